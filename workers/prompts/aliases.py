"""Short names for long ids within one prompt: `m3` for a message, `e2` for an event.

An id costs some 25 tokens wherever it stands, its alias two; and a model that is offered few,
short names mistypes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.model_json import key_of

_REFERENCES: Final = frozenset(
    key_of(key)
    for key in (
        "message_id",
        "source_message_ids",
        "same_event_id",
        "supersedes_event_ids",
        "conflicts_with_event_ids",
        "before_event_ids",
        "after_event_ids",
        "related_event_ids",
        "source_event_ids",
        "metadata_provenance",
    )
)
_WORDS: Final = frozenset({"value", "text", "quote"})


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names under which one prompt shows ids."""

    by_id: Mapping[str, str]

    @classmethod
    def of(cls, letter: str, ids: Iterable[str]) -> Aliases:
        """Return names for the ids, in order: the letter and a number from 1."""
        return cls({one: f"{letter}{at}" for at, one in enumerate(dict.fromkeys(ids), start=1)})

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self.by_id.values())

    def restored(self, reply: Mapping[str, object]) -> dict[str, object]:
        """Return a reply with ids where it cites names.

        Only where a reply cites, never in its words. What is no name stays as it is: an id is
        taken as well, and what is neither is refused by those who check sources.
        """
        ids = {name: one for one, name in self.by_id.items()}
        return {key: self._restored(value, ids, _cites(key, False)) for key, value in reply.items()}

    def _restored(self, value: Any, ids: Mapping[str, str], is_cited: bool) -> Any:
        if isinstance(value, Mapping):
            return {
                key: self._restored(item, ids, _cites(str(key), is_cited))
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._restored(item, ids, is_cited) for item in value]
        if not is_cited or not isinstance(value, str) or value in self.by_id:
            return value
        return ids.get(value.strip().lower(), value)


def _cites(key: str, is_within: bool) -> bool:
    """Tell whether what stands under a key names ids; what holds such lists passes it on."""
    folded = key_of(key)
    return folded in _REFERENCES or (is_within and folded not in _WORDS)
