"""Settings: how this namespace remembers, what that does to levels, and the tenant's default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from retrieval.console.api_client import ApiProblem
from retrieval.console.components.states import notice
from retrieval.console.components.text import section, text
from retrieval.console.page_context import PageContext
from retrieval.console.policy.entries import BLOCKS, MODELS, PRIVACY, STAGES, TENANT_BUDGET
from retrieval.console.policy.form import PolicyForm

_FORBIDDEN = 403


async def render(page: PageContext) -> None:
    """Build both policies with three queries; the tenant's own is for keys that administer it."""
    view = await page.api.get(page.write())
    default = await page.api.get("/v1/policy")
    _namespace(page, view)
    if await _administers(page):
        _default(page, default)
    else:
        notice("The tenant's default policy can be changed with a key that administers it.")
    text(
        "Keys and tenants are managed with the command line and the API, not here.",
        "p",
        classes="sg-hint",
    )


async def _administers(page: PageContext) -> bool:
    try:
        await page.api.get("/v1/keys", limit=1)
    except ApiProblem as problem:
        if problem.status == _FORBIDDEN:
            return False
        raise
    return True


def _namespace(page: PageContext, view: Mapping[str, Any]) -> None:
    form = PolicyForm(
        page, page.write(), view, follows="follows the tenant's default", own="this namespace"
    )
    with section("Blocks", note="How a conversation is cut, and how fast it fades."):
        form.group(BLOCKS)
        form.fading()
    with section("Sources and secrets"):
        form.group(PRIVACY)
    with section("Models and budgets"):
        form.group(MODELS)
    with section("Stages", note="What is derived from a block after its summary."):
        form.group(STAGES)
    with section("Save"):
        form.saving()


def _default(page: PageContext, view: Mapping[str, Any]) -> None:
    note = "What every namespace follows in all that it does not set itself."
    form = PolicyForm(
        page, "/v1/policy", view, follows="follows the service's settings", own="the default"
    )
    with section("The tenant's default policy", note=note), ui.element("details") as details:
        text("Show and change it", "summary")
        details.classes("sg-default-policy")
        with ui.element("div").classes("sg-stack"):
            form.group((*BLOCKS, *PRIVACY, *MODELS, TENANT_BUDGET, *STAGES))
            form.saving(offers_existing=True)
