"""Every link of the documentation leads somewhere: files exist, and so do their headings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])
ELSEWHERE = ("http://", "https://", "mailto:")


def without_code(text: str) -> str:
    """Return a page without its fenced blocks and code spans, where brackets are no links."""
    prose = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", prose)


def links(text: str) -> list[str]:
    """Return the targets of a page's links and pictures."""
    prose = without_code(text)
    return re.findall(r"\]\(([^()\s]+)\)", prose) + re.findall(r'(?:src|srcset)="([^"]+)"', prose)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the usual viewers of Markdown spell them."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 1
        while (anchor := name if number == 1 else f"{name}-{number - 1}") in found:
            number += 1
        found.add(anchor)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        if target.startswith(ELSEWHERE):
            continue
        name, _, anchor = target.partition("#")
        there = (page.parent / name).resolve() if name else page
        if (
            not there.is_relative_to(ROOT)
            or not there.exists()
            or (anchor and anchor not in anchors(there))
        ):
            broken.append(target)
    assert broken == []


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "README.md"
    reached, waiting = {index}, [index]
    while waiting:
        page = waiting.pop()
        for target in links(page.read_text(encoding="utf-8")):
            name = target.partition("#")[0]
            there = (page.parent / name).resolve()
            if name.endswith(".md") and there not in reached and there.exists():
                reached.add(there)
                waiting.append(there)
    left_out = {str(page.relative_to(ROOT)) for page in set(PAGES) - reached}
    assert left_out <= {"README.md", ".github/CONTRIBUTING.md"}
