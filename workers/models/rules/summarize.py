"""Levels 0 to 2 by extraction: the sentences that weigh most, told with who said them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from shared.domain.blocks import is_placeholder
from shared.domain.provenance import is_evidence
from shared.domain.spacing import collapse
from shared.domain.tool_json import result_summary
from shared.domain.turns import Message, Role
from workers.models.inputs import SummarizeInput
from workers.models.rules.block_reading import statements_in
from workers.models.rules.kinds import Statement
from workers.models.rules.naming import title_of, topics_of
from workers.models.rules.sentences import is_chinese, sentences_of
from workers.models.rules.small_talk import is_small_talk
from workers.models.rules.speakers import Cast, cast_of

_KEYPOINTS: Final = 8
_TAGS: Final = 5
_SUMMARY_SENTENCES: Final = 3
_POINT: Final = 300
_PROPOSED: Final = 160
_ROLE_NAMES: Final = {True: ("助手", "用户"), False: ("Assistant", "User")}


def summarize(material: SummarizeInput) -> Mapping[str, object]:
    """Return the summarizer's reply for one part of a block."""
    messages = [one for one in material.messages if one.role is not Role.SYSTEM]
    cast = cast_of(material.messages)
    statements = statements_in(messages, cast)
    is_han = _is_chinese(material, messages)
    texts = [one.told for one in statements] or [one.content for one in messages]
    tags = topics_of(texts, limit=_TAGS, skip=cast.names)
    return {
        "title": _title(statements, messages, tags, is_han=is_han),
        "tags": tags,
        "summary": _summary(statements, messages, cast, is_han=is_han),
        "keypoints": _keypoints(statements, messages, cast, is_han=is_han),
        "shouldExtract": bool(statements) or _has_substance(messages, cast),
    }


def _title(
    statements: Sequence[Statement],
    messages: Sequence[Message],
    tags: Sequence[str],
    *,
    is_han: bool,
) -> str:
    ranked = _ranked(statements)
    if ranked:
        return title_of(ranked[0].told)
    asked = next(
        (one.content for one in messages if one.role is Role.USER and one.content.strip()), ""
    )
    if asked and not all(
        is_small_talk(one) for message in messages for one in sentences_of(message)
    ):
        title = title_of(collapse(asked))
        if not is_placeholder(title):
            return title
    if tags:
        return ("关于" if is_han else "About ") + ("、" if is_han else ", ").join(tags[:3])
    return "寒暄" if is_han else "Small talk"


def _summary(
    statements: Sequence[Statement], messages: Sequence[Message], cast: Cast, *, is_han: bool
) -> str:
    chosen = sorted(_ranked(statements)[:_SUMMARY_SENTENCES], key=lambda one: _place(one, messages))
    if chosen:
        return (" " if not is_han else "").join(_closed(one.told, is_han=is_han) for one in chosen)
    talked = _said(messages, cast, is_han=is_han)
    if talked:
        return " ".join(talked[:2])
    return (
        "双方只是寒暄或确认。"
        if is_han
        else "Only greetings, confirmations or tool traffic were exchanged."
    )


def _keypoints(
    statements: Sequence[Statement], messages: Sequence[Message], cast: Cast, *, is_han: bool
) -> list[str]:
    chosen = sorted(_ranked(statements)[:_KEYPOINTS], key=lambda one: _place(one, messages))
    points = [_attributed(one, is_han=is_han) for one in chosen]
    if not points:
        points = _said(messages, cast, is_han=is_han)[:_KEYPOINTS]
    if not points:
        points = [_tool_line(one) for one in messages if one.tool_calls][:_KEYPOINTS]
    if not points:
        points = ["没有需要保留的内容" if is_han else "Nothing of substance was said"]
    return list(dict.fromkeys(points))


def _attributed(statement: Statement, *, is_han: bool) -> str:
    if statement.sentence.message.role is Role.ASSISTANT and statement.speaker is None:
        return statement.told[:_POINT]
    who = statement.speaker or ("用户" if is_han else "User")
    quote = collapse(statement.quote)[:_POINT]
    return f"{who}说：{quote}" if is_han else f"{who} said: {quote}"


def _said(messages: Sequence[Message], cast: Cast, *, is_han: bool) -> list[str]:
    """Return what was asked and proposed where nothing was stated, each with its speaker."""
    lines: list[str] = []
    for message in messages:
        sentences = [one for one in sentences_of(message) if not is_small_talk(one)]
        if not sentences or message.role is Role.TOOL or not is_evidence(message):
            continue
        kind = "answered"
        if message.role is Role.USER:
            kind = "asked" if sentences[0].is_question else "said"
        name = cast.persons(message).speaker or _ROLE_NAMES[is_han][message.role is Role.USER]
        verb = (
            {"asked": "问：", "said": "说：", "answered": "回答："}[kind]
            if is_han
            else f" {kind}: "
        )
        lines.append(f"{name}{verb}{collapse(sentences[0].text)[:_PROPOSED]}")
    return lines


def _tool_line(message: Message) -> str:
    call = message.tool_calls[0]
    name = str(call.get("name") or "tool")
    return f"Tool {name}: {result_summary(call.get('result')) or 'no result'}"


def _ranked(statements: Sequence[Statement]) -> list[Statement]:
    order = {id(one): place for place, one in enumerate(statements)}
    return sorted(
        statements, key=lambda one: (-one.strength, -min(len(one.told), 160), order[id(one)])
    )


def _place(statement: Statement, messages: Sequence[Message]) -> tuple[int, int]:
    ids = [one.id for one in messages]
    return ids.index(statement.sentence.message.id), statement.sentence.start


def _closed(text: str, *, is_han: bool) -> str:
    text = collapse(text)[:_POINT]
    return text if text[-1:] in ".!?。！？…" else f"{text}{'。' if is_han else '.'}"


def _has_substance(messages: Sequence[Message], cast: Cast) -> bool:
    """Tell whether a person said more than greetings, confirmations and process noise (D9)."""
    return any(
        not is_small_talk(sentence)
        for message in messages
        if cast.may_tell(message)
        for sentence in sentences_of(message)
    )


def _is_chinese(material: SummarizeInput, messages: Sequence[Message]) -> bool:
    if material.language:
        return material.language.lower().startswith("zh")
    return is_chinese(" ".join(one.content for one in messages if one.role is Role.USER))
