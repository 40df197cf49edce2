"""The offline default model: deterministic rules for English and Chinese, and no language model."""

from __future__ import annotations

from workers.models.rules.model import RulesModel

__all__ = ["RulesModel"]
