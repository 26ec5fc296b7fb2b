"""The services of the contract."""

from dragoman.server.services.model import ModelService
from dragoman.server.services.translation import TranslationService

__all__ = ["ModelService", "TranslationService"]
