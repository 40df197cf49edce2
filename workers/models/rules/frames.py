"""Read a statement as subject, property and value, where its grammar is one of a few plain ones.

Two statements meet only when subject and property are the same; likeness of texts is nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from shared.domain.search_terms import search_terms

_END: Final = r"(?=\s*(?:[,.;!]|$|\band\b|\bbecause\b|\bsince\b|\bnow\b|\binstead\b|\bwith\b))"
_NOW: Final = r"(?:(?:now|currently|actually|still|also)\s+)?"
_WHO: Final = r"(?P<s>the user|(?-i:[A-Z][\w-]*(?:\s[A-Z][\w-]*)?))"
_DEFINITE: Final = r"(?P<s>(?:the|(?:[\w']+\s)?[\w]+'s|our|their)\s+[\w' .-]{2,60}?)"
_FRAMES: Final = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        (
            "works_at",
            rf"{_WHO}\s+{_NOW}works?\s+{_NOW}(?:at|for)\s+"
            rf"(?P<v>[\w'&. -]{{2,60}}?){_END}",
        ),
        (
            "lives_in",
            rf"{_WHO}\s+{_NOW}lives?\s+{_NOW}in\s+(?P<v>[\w'&. -]{{2,60}}?){_END}",
        ),
        (
            "name",
            rf"{_DEFINITE}\s+(?:is|are)\s+{_NOW}(?:called|named)\s+(?P<v>[\w'&. -]{{2,60}}?){_END}",
        ),
        (
            "location",
            rf"{_DEFINITE}\s+(?:is|are)\s+{_NOW}(?:on|in|at)\s+(?P<v>[\w'&. -]{{2,60}}?){_END}",
        ),
        ("is", rf"{_DEFINITE}\s+(?:is|are)\s+{_NOW}(?P<v>(?-i:[A-Z0-9])[\w'&. -]{{1,60}}?){_END}"),
        ("has", rf"{_DEFINITE}\s+(?:has|have)\s+{_NOW}(?P<v>[\w'&. -]{{2,60}}?){_END}"),
    )
)
_FRAMES_ZH: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("works_at", r"(?P<s>[^，。,]{1,12}?)(?:现在)?在(?P<v>[^，。,]{1,20}?)(?:工作|上班|任职)"),
        ("lives_in", r"(?P<s>[^，。,]{1,12}?)(?:现在)?(?:住在?|搬到了?)(?P<v>[^，。,]{1,20})"),
        ("name", r"(?P<s>[^，。,]{2,12}?)(?:的名字)?(?:叫|名为|改名为)(?P<v>[^，。,]{1,20})"),
        (
            "location",
            r"(?P<s>[^，。,]{2,12}?)(?:现在|改|搬|挪)?(?:在|到)(?P<v>[^，。,]{1,20}?"
            r"(?:楼|层|室|区|号|街|路|城|市|边|里|处|厅|栋))(?=$|[，。,!！])",
        ),
        ("is", r"(?P<s>[^，。,]{2,12}?)(?:现在)?(?:是|改为|改成|换成)(?P<v>[^，。,]{1,30})"),
    )
)
_EXCLUSIVE: Final = frozenset({"works_at", "lives_in", "name", "location", "is"})
_PARTICLES: Final = re.compile(r"^(?:的|我们的|用户一方的|用户的|现在)|的$")


@dataclass(frozen=True, slots=True)
class Frame:
    """A statement's subject as a set of terms, its property, and its value as words and terms."""

    subject: frozenset[str]
    subject_text: str
    name: str
    value: str

    @property
    def is_exclusive(self) -> bool:
        """Tell whether the property has one value at a time."""
        return self.name in _EXCLUSIVE

    def meets(self, other: Frame) -> bool:
        """Tell whether both speak of the same property of the same thing."""
        return self.name == other.name and bool(self.subject) and self.subject == other.subject

    def agrees(self, other: Frame) -> bool:
        """Tell whether both give the same value."""
        return terms(self.value) == terms(other.value)


def frame_of(text: str) -> Frame | None:
    """Return the statement's frame, or None where its grammar is no plain one."""
    is_han = re.search(r"[\u3400-\u9fff]", text) is not None
    for name, pattern in _FRAMES_ZH if is_han else _FRAMES:
        match = pattern.search(text)
        if match is None:
            continue
        subject = _PARTICLES.sub("", match["s"].strip()) if is_han else match["s"].strip()
        # The user is somebody, although the word says nothing where it stands beside others.
        found = frozenset({subject}) if is_han else terms(subject) or frozenset({subject.lower()})
        value = match["v"].strip()
        if found and value:
            return Frame(found, subject, name, value)
    return None


def terms(text: str) -> frozenset[str]:
    """Return the content terms of a text, stemmed, without folded twins and lone characters."""
    return frozenset(
        term for term in search_terms(text) if not term.startswith("f:") and term not in _EMPTY
    )


_EMPTY: Final = frozenset(
    {"user", "other", "用户", "一方", "户一", "用", "户", "now", "new", "old", "assist"}
)
