import pytest
import torch

from dragoman.training.device import choose_device, uses_bf16
from dragoman.training.recipe import LoopSettings
from dragoman.transformer import ConfigError


@pytest.fixture
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def test_cuda_without_cuda_is_refused(no_cuda: None) -> None:
    with pytest.raises(ConfigError, match=r"training\.device: 'cuda' must be 'cpu' or 'auto' here"):
        choose_device(LoopSettings(device="cuda"))


def test_auto_falls_back_to_the_cpu(no_cuda: None) -> None:
    assert choose_device(LoopSettings()).type == "cpu"


def test_cuda_is_taken_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device(LoopSettings()).type == "cuda"
    assert choose_device(LoopSettings(device="cuda")).type == "cuda"
    assert choose_device(LoopSettings(device="cpu")).type == "cpu"


def test_auto_precision_follows_the_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, cuda = torch.device("cpu"), torch.device("cuda")
    for able in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda able=able: able)
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda able=able: able)
        assert uses_bf16(LoopSettings(), cuda) is able
        assert uses_bf16(LoopSettings(), cpu) is able
        assert uses_bf16(LoopSettings(precision="bf16"), cpu)
        assert not uses_bf16(LoopSettings(precision="fp32"), cuda)
