"""What a run leaves in its folder as it goes, so that the same command continues it.

Every answer and verdict is a line that is written whole; a line cut off by a crash is ignored.
The folder holds texts of the conversations: it stays outside what is published.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import orjson

from shared.errors import InvalidInput
from workers.evaluation.answering.answered import Answered, AnswerKey, Mode
from workers.evaluation.answering.judging import Verdict, VerdictKey

_ANSWERS: Final = "answers.jsonl"
_VERDICTS: Final = "verdicts.jsonl"
_RUN: Final = "run.json"
_TEXT_FREE: Final = "text-free.jsonl"


class Artefacts:
    """The folder of a run. Writing is safe from several threads of one process."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        """Open or begin a run; InvalidInput where the folder holds another one.

        `identity` is all that shapes answers: model, prompts, data and options.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock = threading.Lock()
        self._claim(orjson.loads(orjson.dumps(identity)))
        # What a model failed to give is asked for again.
        answers = map(_answered, _lines(folder / _ANSWERS))
        verdicts = map(_verdict, _lines(folder / _VERDICTS))
        self.answers = {one.key: one for one in answers if one.error is None}
        self.verdicts = {one.key: one for one in verdicts if one.is_correct is not None}

    @property
    def replies(self) -> Path:
        """The folder of kept replies."""
        return self.folder / "replies"

    def add_answer(self, answered: Answered) -> None:
        """Keep one answer, in full and without its texts."""
        with self._lock:
            _append(self.folder / _ANSWERS, asdict(answered))
            _append(self.folder / _TEXT_FREE, answered.without_text())
            self.answers[answered.key] = answered

    def add_verdict(self, verdict: Verdict) -> None:
        """Keep one verdict; on an answer that failed it holds for this run alone."""
        with self._lock:
            if self.answers[verdict.key.answer].error is None:
                _append(self.folder / _VERDICTS, asdict(verdict))
            self.verdicts[verdict.key] = verdict

    def _claim(self, identity: dict[str, Any]) -> None:
        path = self.folder / _RUN
        if not path.exists():
            path.write_bytes(orjson.dumps(identity, option=orjson.OPT_INDENT_2))
            return
        held = orjson.loads(path.read_bytes())
        changed = sorted(k for k in held.keys() | identity.keys() if held.get(k) != identity.get(k))
        if changed:
            raise InvalidInput(
                f"{self.folder} holds a run with other settings ({', '.join(changed)}): "
                "give another --out, or the same settings to continue it",
                code="another_run",
            )


def _append(path: Path, record: Mapping[str, Any]) -> None:
    with path.open("ab") as file:
        file.write(orjson.dumps(record) + b"\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    if end < len(whole):
        # A crash cut the last line off: what is appended next must not be glued to it.
        path.write_bytes(whole[:end])
    for line in whole[:end].splitlines():
        yield orjson.loads(line)


def _key(value: Mapping[str, Any]) -> AnswerKey:
    return AnswerKey(Mode(value["mode"]), value["seed"], value["question_id"])


def _answered(record: dict[str, Any]) -> Answered:
    return Answered(**{**record, "key": _key(record["key"])})


def _verdict(record: dict[str, Any]) -> Verdict:
    told = record["key"]
    key = VerdictKey(_key(told["answer"]), told["judge"], told["run"])
    return Verdict(**{**record, "key": key})
