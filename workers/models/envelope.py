"""Read the envelope of a chat completion: its text, its cost, and why the model stopped.

Servers differ in where they put things; what the text itself means is read elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shared.domain.budget import estimate_tokens
from shared.domain.jobs import FailureClass
from workers.models.port import ModelError, ModelReply, Usage

_REFUSALS: Final = frozenset({"content_filter", "refusal", "safety"})
_INPUT_NAMES: Final = ("prompt_tokens", "input_tokens")
_OUTPUT_NAMES: Final = ("completion_tokens", "output_tokens")
_LARGEST_COUNT: Final = 2_000_000_000


def is_error(body: Mapping[str, Any]) -> bool:
    """Tell whether a body of status 200 is an error all the same."""
    return bool(body.get("error")) and not body.get("choices")


def reply_of(body: Mapping[str, Any], *, asked: str, sent: Sequence[str] = ()) -> ModelReply:
    """Return the reply in a completion's body. Raises ModelError where there is none.

    `asked` names the model when the body does not. The cost is read first, so that errors
    carry it as well; where the body tells none it is estimated from the texts `sent` and come.
    """
    told = usage_of(body)
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise ModelError(FailureClass.TRANSIENT, "no_choice", "the reply has no choice", usage=told)
    text = _text_of(message)
    usage = _estimated(sent, text) if told is None else told
    finish = choice.get("finish_reason")
    if message.get("refusal") or finish in _REFUSALS:
        raise ModelError(
            FailureClass.REFUSED, "refused", "the model refused the material", usage=usage
        )
    return ModelReply(
        content=text,
        model=str(body.get("model") or asked)[:200],
        usage=usage,
        finish_reason=finish if isinstance(finish, str) else None,
    )


def usage_of(body: Mapping[str, Any]) -> Usage | None:
    """Return the tokens that a body tells of, None when it tells neither number."""
    told = body.get("usage")
    counts: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
    taken, made = _count(counts, _INPUT_NAMES), _count(counts, _OUTPUT_NAMES)
    return None if taken is None and made is None else Usage(taken or 0, made or 0)


def _estimated(sent: Sequence[str], text: str) -> Usage:
    """Count what the endpoint does not: a spend that nobody counts would know no budget."""
    taken = sum(estimate_tokens(one) for one in sent)
    return Usage(taken, estimate_tokens(text), is_estimated=True)


def _text_of(message: Mapping[str, Any]) -> str:
    """Return the answer: the content, else the arguments of the one tool it called instead.

    Some servers put a lone JSON answer where reasoning belongs; prose there is never an answer.
    """
    text = _joined(message.get("content"))
    if text.strip():
        return text
    arguments = _only_arguments(message)
    if arguments is not None:
        return arguments
    aside = _joined(message.get("reasoning_content")).strip()
    return aside if aside.startswith("{") and aside.endswith("}") else ""


def _only_arguments(message: Mapping[str, Any]) -> str | None:
    calls = message.get("tool_calls")
    functions = [one.get("function") for one in calls or () if isinstance(one, Mapping)]
    if not functions:
        functions = [message.get("function_call")]
    if len(functions) != 1 or not isinstance(functions[0], Mapping):
        return None
    arguments = functions[0].get("arguments")
    return arguments if isinstance(arguments, str) else None


def _joined(content: object) -> str:
    """Return content as text; it may come as a list of typed parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text", "") for part in parts if isinstance(part, Mapping)]
    return "".join(text for text in texts if isinstance(text, str))


def _count(counts: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for value in (counts.get(name) for name in names):
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return int(min(_LARGEST_COUNT, value))
    return None
