import math

import pytest
import torch

from dragoman.transformer import SinusoidalPositions, sinusoids


@pytest.mark.parametrize(("position", "pair"), [(0, 0), (1, 0), (7, 3), (400, 15)])
def test_table_is_the_formula_of_section_3_5(position: int, pair: int) -> None:
    angle = position / 10_000 ** (2 * pair / 32)
    table = sinusoids(512, 32)
    assert table[position, 2 * pair] == pytest.approx(math.sin(angle), abs=1e-6)
    assert table[position, 2 * pair + 1] == pytest.approx(math.cos(angle), abs=1e-6)


def test_first_position_is_zero_and_one() -> None:
    assert sinusoids(2, 4)[0].tolist() == [0, 1, 0, 1]


def test_a_sequence_past_the_table_is_refused() -> None:
    positions = SinusoidalPositions(8, 4)
    assert positions(torch.zeros(1, 8, 4)).shape == (1, 8, 4)
    with pytest.raises(ValueError, match="length: 9 tokens exceed max_positions 8"):
        positions(torch.zeros(1, 9, 4))


def test_the_table_is_not_a_parameter_and_not_saved() -> None:
    positions = SinusoidalPositions(8, 4)
    assert not list(positions.parameters())
    assert not positions.state_dict()
