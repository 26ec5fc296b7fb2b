"""Where and in which precision a model is trained."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from dragoman.training.recipe import LoopSettings
from dragoman.transformer import ConfigError


def choose_device(settings: LoopSettings) -> torch.device:
    """Return the recipe's device; "auto" is a CUDA device where there is one.

    Raises:
        ConfigError: The recipe asks for CUDA and there is none.
    """
    has_cuda = torch.cuda.is_available()
    if settings.device == "cuda" and not has_cuda:
        built = "no driver or device is found" if torch.version.cuda else "torch is a CPU build"
        raise ConfigError(f"training.device: 'cuda' must be 'cpu' or 'auto' here, {built}")
    if settings.device == "auto":
        return torch.device("cuda" if has_cuda else "cpu")
    return torch.device(settings.device)


def uses_bf16(settings: LoopSettings, device: torch.device) -> bool:
    """Whether products are computed in bf16; the parameters stay fp32.

    "auto" takes it where the hardware multiplies it natively; emulated, it is slower than fp32.
    """
    if settings.precision != "auto":
        return settings.precision == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.cpu._is_avx512_bf16_supported())


def attention_backend(device: torch.device) -> AbstractContextManager[None]:
    """On a CPU the fused backward pass takes twice as long as plain products at these lengths."""
    return sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()


def generator_state(device: torch.device) -> dict[str, torch.Tensor]:
    """Return the state of the random generators that training draws from."""
    state = {"generator.cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["generator.cuda"] = torch.cuda.get_rng_state(device)
    return state


def restore_generators(state: dict[str, torch.Tensor], device: torch.device) -> None:
    """Take over what `generator_state` returned, as far as this device has it."""
    torch.set_rng_state(state["generator.cpu"])
    if device.type == "cuda" and "generator.cuda" in state:
        torch.cuda.set_rng_state(state["generator.cuda"], device)
