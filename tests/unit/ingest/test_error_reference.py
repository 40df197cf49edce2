"""docs/reference/errors.md lists every code a client can meet, with its right status."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from shared import errors
from shared.domain.external_memory_parse import UnreadableImport
from shared.domain.limits import Quota
from shared.http import problems

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs" / "reference" / "errors.md"
CLASSES = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.StrataGateError)
}
RAISING = {*CLASSES, "at", "field_error", "_invalid"}


def documented() -> dict[str, set[int]]:
    """Codes of the reference's table with their statuses."""
    rows = re.findall(r"^\| `([a-z_]+)` \| ([0-9, ]+) \|", REFERENCE.read_text(), re.MULTILINE)
    return {code: {int(s) for s in statuses.split(",")} for code, statuses in rows}


def raised() -> Iterator[tuple[str, str, str]]:
    """(code, raising name, file) of each code that a client-facing file gives an error."""
    for package in ("ingest", "retrieval", "shared"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and (name := called(call)) in RAISING:
                    for code in codes(call, name):
                        yield code, name, str(path.relative_to(ROOT))


def called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def codes(call: ast.Call, name: str) -> Iterator[str]:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
    if name in ("at", "_invalid"):
        given += call.args[2:3]
    if name == "field_error":
        given += call.args[:1]
    for value in given:
        for constant in ast.walk(value):
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                yield constant.value


def test_every_code_that_is_raised_is_in_the_reference() -> None:
    found = {code: file for code, _, file in raised()}
    assert len(found) > 15
    assert {code: file for code, file in found.items() if code not in documented()} == {}


def test_the_codes_of_the_tree_and_of_the_edge_are_in_the_reference_with_their_status() -> None:
    listed = documented()
    for kind in CLASSES.values():
        assert kind.status in listed[kind.code], kind.code
    for status, code in problems._HTTP_CODES.items():
        assert status in listed[code], code
    for code in problems._FIELD_CODES.values():
        assert listed[code] == {422}


def test_a_code_is_documented_with_the_status_its_error_has() -> None:
    listed = documented()
    for code, name, file in raised():
        status = CLASSES[name].status if name in CLASSES else 422
        assert status in listed[code], f"{code} of {file} is answered with {status}"


def test_nothing_is_documented_that_no_code_raises() -> None:
    known = {code for code, _, _ in raised()} | {kind.code for kind in CLASSES.values()}
    known |= {*problems._HTTP_CODES.values(), *problems._FIELD_CODES.values(), "invalid_value"}
    known |= {quota.value for quota in Quota} | {UnreadableImport.code}
    assert documented().keys() - known == {"http_error"}
