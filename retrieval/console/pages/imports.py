"""Import: what another assistant remembers, pasted, previewed, decided, confirmed, and undone."""

from __future__ import annotations

from retrieval.console.components.text import text
from retrieval.console.importing.beginning import LANGUAGES, earlier, paste, prompts
from retrieval.console.importing.progress import ImportProgress
from retrieval.console.page_context import PageContext


async def render(page: PageContext) -> None:
    """Build where an import begins, or one import by its id; at most two queries."""
    import_id = page.query.get("import")
    if import_id:
        progress = ImportProgress(page, import_id)
        await progress.build()
        return
    told = {}
    for language in LANGUAGES:
        answer = await page.api.get("/v1/import-prompt", language=language)
        told[language] = str(answer["prompt"])
    prompts(told)
    paste(page)
    earlier(page)
    text(
        "Files too large to paste: stratagate import file <file> --namespace <name>.",
        "p",
        classes="sg-hint",
    )
