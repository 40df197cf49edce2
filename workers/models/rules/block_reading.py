"""All statements of a block in order: of people, of tools, with lone pronouns named."""

from __future__ import annotations

from collections.abc import Sequence

from shared.domain.turns import Message
from workers.models.rules.kinds import Statement
from workers.models.rules.reference import with_names
from workers.models.rules.reported import tool_statements
from workers.models.rules.speakers import Cast
from workers.models.rules.statements import statements_of


def statements_in(messages: Sequence[Message], cast: Cast) -> list[Statement]:
    """Return what the messages state that may be believed, in order."""
    found = [
        statement
        for message in messages
        for statement in (*statements_of(message, cast), *tool_statements(message, cast))
    ]
    return with_names(found, cast.names)
