"""Judge a PromQL expression as far as can be without Prometheus: its grammar and its types.

It knows the part of the language that our alerts and dashboard use, and refuses the rest, so that
a new function is looked at before it is trusted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<name>[A-Za-z_:][\w:]*)|(?P<range>\[\d+[smhd]\])"
    r"|(?P<string>\"(?:[^\"\\]|\\.)*\")|(?P<op>=~|!~|!=|==|>=|<=|[-+*/<>=(){},]))"
)
_OF_RANGE = {"rate": "counter", "increase": "counter", "delta": "gauge"}
_OF_VECTOR = {"vector": ("number",), "histogram_quantile": ("number", "vector")}
_AGGREGATIONS = frozenset({"sum", "max", "min", "avg", "count"})
_PRECEDENCE = (
    {"or"},
    {"and", "unless"},
    {"==", "!=", ">", "<", ">=", "<="},
    {"+", "-"},
    {"*", "/"},
)
_COUNTER = re.compile(r".*_(?:total|bucket|count|sum)")
_MINIMUM_RANGE_S = 60
"""Four scrapes of 15 seconds: with fewer, one lost scrape would leave nothing to see."""
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class NotPromQL(ValueError):
    """The expression is malformed or of the wrong types; the text says where."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What an expression gives: a number, a vector or a range of one, and with which labels."""

    shape: str
    series: str = ""
    labels: frozenset[str] | None = None


def check(expression: str) -> Kind:
    """Return what the expression gives; raise NotPromQL where Prometheus would refuse it."""
    parser = _Parser(_tokens(expression), expression)
    kind = parser.binary(0)
    if parser.at < len(parser.tokens):
        raise parser.wrong("nothing more")
    if kind.shape == "range":
        raise NotPromQL(f"a range where a vector is needed: {expression}")
    return kind


def _tokens(expression: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(expression.rstrip()):
        match = _TOKEN.match(expression, at)
        if match is None:
            raise NotPromQL(f"unknown at {expression[at : at + 20]!r}")
        found.append((str(match.lastgroup), str(match.group(str(match.lastgroup)))))
        at = match.end()
    return found


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], text: str) -> None:
        self.tokens, self.at, self.text = tokens, 0, text

    def binary(self, level: int) -> Kind:
        if level == len(_PRECEDENCE):
            return self._primary()
        left = self.binary(level + 1)
        while self._peek() in _PRECEDENCE[level]:
            operator = self._take()
            right = self.binary(level + 1)
            if "range" in (left.shape, right.shape):
                raise NotPromQL(f"{operator} of a range: {self.text}")
            if operator in {"or", "and", "unless"} and "number" in (left.shape, right.shape):
                raise NotPromQL(f"{operator} of a number: {self.text}")
            left = left if left.shape == "vector" else right
        return left

    def _primary(self) -> Kind:
        kind, text = self._next()
        if kind == "number":
            return Kind("number")
        if text == "(":
            inside = self.binary(0)
            self._expect(")")
            return inside
        if kind != "name":
            raise self.wrong("a name, a number or (")
        if text in _AGGREGATIONS:
            return self._aggregation(text)
        if self._peek() == "(":
            return self._call(text)
        return self._selector(text)

    def _aggregation(self, name: str) -> Kind:
        labels = self._grouping()
        self._expect("(")
        inside = self.binary(0)
        self._expect(")")
        if inside.shape != "vector":
            raise NotPromQL(f"{name} of a {inside.shape}: {self.text}")
        return Kind("vector", inside.series, self._grouping() if labels is None else labels)

    def _grouping(self) -> frozenset[str] | None:
        if self._peek() not in {"by", "without"}:
            return None
        is_by = self._take() == "by"
        self._expect("(")
        labels = set()
        while self._peek() != ")":
            labels.add(self._next()[1])
            if self._peek() == ",":
                self._take()
        self._expect(")")
        return frozenset(labels) if is_by else None

    def _call(self, name: str) -> Kind:
        self._expect("(")
        given = [self.binary(0)]
        while self._peek() == ",":
            self._take()
            given.append(self.binary(0))
        self._expect(")")
        shapes = tuple(one.shape for one in given)
        if name in _OF_RANGE:
            if shapes != ("range",):
                raise NotPromQL(f"{name} needs a range: {self.text}")
            counts = bool(_COUNTER.fullmatch(given[0].series))
            if counts != (_OF_RANGE[name] == "counter"):
                raise NotPromQL(f"{name} is for a {_OF_RANGE[name]}: {given[0].series}")
        elif _OF_VECTOR.get(name) != shapes:
            raise NotPromQL(f"{name} of {shapes}: {self.text}")
        if name == "histogram_quantile" and "le" not in (given[1].labels or {"le"}):
            raise NotPromQL(f"{name} needs le kept: {self.text}")
        return Kind("vector", given[-1].series, given[-1].labels)

    def _selector(self, name: str) -> Kind:
        if self._peek() == "{":
            self._take()
            while self._peek() != "}":
                self._matcher()
            self._expect("}")
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "range":
            duration = self._take()[1:-1]
            if int(duration[:-1]) * _SECONDS[duration[-1]] < _MINIMUM_RANGE_S:
                raise NotPromQL(f"[{duration}] holds too few scrapes: {self.text}")
            return Kind("range", name)
        return Kind("vector", name)

    def _matcher(self) -> None:
        self._next()
        operator = self._take()
        kind, value = self._next()
        if operator not in {"=", "!=", "=~", "!~"} or kind != "string":
            raise self.wrong('a matcher such as state="dead"')
        if operator.endswith("~"):
            re.compile(value[1:-1])
        if self._peek() == ",":
            self._take()

    def _peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        return self._next()[1]

    def _next(self) -> tuple[str, str]:
        if self.at == len(self.tokens):
            raise self.wrong("more")
        self.at += 1
        return self.tokens[self.at - 1]

    def _expect(self, text: str) -> None:
        if self._peek() != text:
            raise self.wrong(text)
        self.at += 1

    def wrong(self, wanted: str) -> NotPromQL:
        return NotPromQL(f"{wanted} expected before {self._peek()!r}: {self.text}")
