"""What the fault server can play: one named function a fault, each making one answer.

An answer is a status, headers, a body, and how it is sent. Faults of content are made out of a
sound reply, so that only what the name says is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Literal

from tests.support.good_replies import good_reply

Sending = Literal["whole", "hang", "drip_body", "drip_headers", "reset", "short"]
RETRY_AFTER_S = 7
QUOTA_HOURS = 6
QUOTA_SOON_S = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer; `sending` says how it goes over the wire."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    sending: Sending = "whole"


Request = dict[str, Any]
Play = Callable[[Request], Answer]


def completion(
    content: str | None, *, finish: str = "stop", model: str = "fault-model", **message: Any
) -> Answer:
    """Return a chat completion with a fixed cost of 40 tokens in and 20 out."""
    return as_json(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": content, **message},
                    "finish_reason": finish,
                }
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60},
        }
    )


def as_json(body: Any, status: int = 200, **headers: str) -> Answer:
    """Return a JSON answer; header names are given with underscores."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Answer(status, json.dumps(body, ensure_ascii=False).encode(), named)


def good(request: Request) -> Answer:
    """A sound reply."""
    return completion(_text(request))


def _text(request: Request) -> str:
    return json.dumps(good_reply(request), ensure_ascii=False)


def _error(status: int, message: str, **names: str) -> Answer:
    return as_json({"error": {"message": message, **names}}, status)


def _limited(**headers: str) -> Answer:
    error = {"error": {"message": "Rate limit reached", "type": "rate_limit_error"}}
    return as_json(error, 429, **headers)


def _limited_until_a_date(_request: Request) -> Answer:
    now = datetime.now(UTC)
    until = format_datetime(now + timedelta(seconds=RETRY_AFTER_S), usegmt=True)
    return _limited(retry_after=until, date=format_datetime(now, usegmt=True))


def _quota_for(wait: timedelta) -> Play:
    def play(_request: Request) -> Answer:
        resets = datetime.now(UTC) + wait
        error = {"type": "quota_exhausted", "resets_at": resets.isoformat()}
        return as_json({"error": error}, 429)

    return play


def _html(status: int) -> Play:
    page = b"<!doctype html><html><body><h1>Bad gateway</h1></body></html>"
    return lambda _request: Answer(status, page, {"content-type": "text/html"})


def _refusing(parameter: str) -> Play:
    """Refuse a request that has a parameter, else answer well."""

    def play(request: Request) -> Answer:
        if parameter in request:
            return _error(400, f"Unrecognized request argument supplied: {parameter}")
        return good(request)

    return play


def _refusing_schemas(request: Request) -> Answer:
    if (request.get("response_format") or {}).get("type") == "json_schema":
        return _error(400, "This response_format type is unavailable now")
    return good(request)


def _refusing_lengths(request: Request) -> Answer:
    if "maxLength" in json.dumps(request.get("response_format")):
        return _error(400, "Invalid schema for response_format: 'maxLength' is not permitted")
    return good(request)


def _uncounted(request: Request) -> Answer:
    body = json.loads(good(request).body)
    del body["usage"]
    return as_json(body)


def _foreign_ids(request: Request) -> Answer:
    reply = good_reply(request)
    for event in reply.get("events", []):
        event["sourceMessageIds"] = ["msg_from_elsewhere"]
        event["quotes"] = []
    for node in reply.get("nodes", []):
        node["sourceEventIds"] = node["metadataProvenance"]["name"] = ["evt_from_elsewhere"]
    if "title" in reply:
        reply["title"] = "   "
    return completion(json.dumps(reply))


def _missing_field(request: Request) -> Answer:
    reply = good_reply(request)
    if reply.get("events"):
        source = reply["events"][0]["sourceMessageIds"]
        reply["events"].append({"summary": "It has no title.", "sourceMessageIds": source})
    reply.pop("title", None)
    return completion(json.dumps(reply))


def _other_language(request: Request) -> Answer:
    reply = good_reply(request)
    for holder in [reply, *reply.get("events", [])]:
        if "summary" in holder:
            holder |= {"title": "有人说了一件事", "summary": "用户在谈话中提到了一件事。"}
    return completion(json.dumps(reply, ensure_ascii=False))


def _tool_call(request: Request) -> Answer:
    function = {"name": "answer", "arguments": _text(request)}
    call = {"id": "call_1", "type": "function", "function": function}
    return completion(None, finish="tool_calls", tool_calls=[call])


def _cut(finish: str) -> Play:
    return lambda request: completion(_text(request)[:-30].rstrip('"}], '), finish=finish)


def _with(change: Callable[[str], str]) -> Play:
    return lambda request: completion(change(_text(request)))


def _always(answer: Answer) -> Play:
    return lambda _request: answer


PLAYS: dict[str, Play] = {
    "good": good,
    # The wire
    "hang": _always(Answer(sending="hang")),
    "drip_body": lambda request: Answer(200, good(request).body, sending="drip_body"),
    "drip_headers": _always(Answer(sending="drip_headers")),
    "reset": _always(Answer(sending="reset")),
    "short_body": lambda request: Answer(200, good(request).body, sending="short"),
    # Statuses
    "limited_seconds": _always(_limited(retry_after=str(RETRY_AFTER_S))),
    "limited_date": _limited_until_a_date,
    "limited_reset": _always(
        _limited(
            x_ratelimit_remaining_requests="0",
            x_ratelimit_reset_requests=f"{RETRY_AFTER_S}s",
            x_ratelimit_remaining_tokens="900",
            x_ratelimit_reset_tokens="6m0s",
        )
    ),
    "limited_bare": _always(_limited()),
    "quota": _quota_for(timedelta(hours=QUOTA_HOURS)),
    "quota_soon": _quota_for(timedelta(seconds=QUOTA_SOON_S)),
    "http_500": _always(_error(500, "The server had an error")),
    "http_503": _always(_error(503, "Overloaded", type="overloaded")),
    "html_502": _html(502),
    "html_200": _html(200),
    "error_in_200": _always(as_json({"error": {"message": "upstream failed", "code": 503}})),
    "unauthorized": _always(_error(401, "Incorrect API key: sk-abc", code="invalid_api_key")),
    "no_such_model": _always(_error(404, "No such model", code="model_not_found")),
    "input_too_long": _always(_error(400, "too long", code="context_length_exceeded")),
    "no_choices": _always(as_json({"object": "chat.completion", "choices": []})),
    # Forms of request that are refused
    "no_schema": _refusing_schemas,
    "no_format": _refusing("response_format"),
    "no_lengths": _refusing_lengths,
    "no_effort": _refusing("reasoning_effort"),
    "no_template_switch": _refusing("chat_template_kwargs"),
    # What the model says
    "cut": _cut("length"),
    "cut_silently": _cut("stop"),
    "uncounted": _uncounted,
    "empty": _always(completion("")),
    "empty_cut": _always(completion("", finish="length")),
    "empty_object": _always(completion("{}")),
    "wrong_schema": _always(completion('{"answer": 42}')),
    "an_array": _always(completion("[1, 2, 3]")),
    "prose": _always(completion("I looked at it and found nothing that I could put into JSON.")),
    "refusal": _always(completion(None, refusal="I cannot help with that.")),
    "filtered": _always(completion("", finish="content_filter")),
    "prose_around": _with(lambda text: f"Sure, here it is:\n\n{text}\n\nAnything else?"),
    "fences": _with(lambda text: f"```json\n{text}\n```"),
    "think": _with(lambda text: f'<think>Maybe {{"title": "no"}}? No.</think>\n{text}'),
    "tool_call": _tool_call,
    "foreign_ids": _foreign_ids,
    "missing_field": _missing_field,
    "duplicate_keys": _with(lambda text: f'{text[:-1]}, "shouldExtract": true}}'),
    "nan": _with(lambda text: f'{text[:-1]}, "confidence": NaN}}'),
    "other_language": _other_language,
}
"""Every play by its name."""
