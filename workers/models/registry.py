"""Build the model that settings or a namespace's policy name."""

from __future__ import annotations

from shared.domain.jobs import FailureClass
from shared.settings import Settings
from workers.models.per_step import PerStep
from workers.models.port import Model, ModelError, TaskKind

PROVIDERS = ("rules", "openai", "scripted")
"""Adapters that exist, as settings and policies spell them."""


def build_model(
    settings: Settings, *, provider: str | None = None, name: str | None = None
) -> Model:
    """Return an adapter; `provider` and `name` override what the settings say.

    Without a `name` the settings' models of single steps hold as well; a name that a policy
    gives holds for every step. Raises ModelError (permanent, `unknown_provider` or
    `model_not_configured`) for what cannot be built, so that a job fails with that reason
    instead of a process with a trace.
    """
    chosen = provider or settings.model_provider
    model = _adapter(settings, chosen, name or settings.model_name)
    if name is not None:
        return model
    by_kind = {
        kind: _adapter(settings, chosen, own) for kind, own in _names_by_kind(settings).items()
    }
    return PerStep(model, by_kind) if by_kind else model


def _names_by_kind(settings: Settings) -> dict[TaskKind, str]:
    named = {
        TaskKind.SUMMARIZE: settings.model_for_summarize,
        TaskKind.EXTRACT: settings.model_for_extract,
        TaskKind.PROJECT: settings.model_for_project,
        TaskKind.IMPORT_DECIDE: settings.model_for_import,
        TaskKind.IMPORT_RECOVER: settings.model_for_import,
    }
    return {kind: name for kind, name in named.items() if name}


def _adapter(settings: Settings, chosen: str, model_name: str) -> Model:
    # Adapters are loaded where they are chosen: a worker of one needs not hold the others' words.
    if chosen == "rules":
        from workers.models.rules import RulesModel  # noqa: PLC0415 - loaded where chosen

        return RulesModel()
    if chosen == "openai":
        from workers.models.openai_http import OpenAIModel  # noqa: PLC0415 - loaded where chosen

        return OpenAIModel.from_settings(settings, name=model_name)
    if chosen == "scripted":
        from workers.models.scripted import ScriptedModel  # noqa: PLC0415 - loaded where chosen

        return ScriptedModel.from_settings(settings)
    raise ModelError(
        FailureClass.PERMANENT,
        "unknown_provider",
        f"no adapter is called {chosen[:40]!r}; there are {', '.join(PROVIDERS)}",
    )
