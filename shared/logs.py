"""Structured logs: one JSON object a line, ids and figures only, never what anybody said.

Loggers are named `stratagate.<part>`; the request's id is bound to every line it causes.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog

_TEXT_FIELDS = frozenset(
    {"content", "text", "messages", "message", "query", "prompt", "reply", "quote", "quotes"}
    | {"title", "summary", "narrative", "body", "arguments", "result", "secret", "authorization"}
)
# They log addresses with queries, statements with values, calls with arguments: what was said.
_CHATTY = ("httpx", "httpcore", "uvicorn.access", "sqlalchemy", "psycopg", "mcp")
_LONGEST_VALUE = 300
_FRAMES = 12


def configure_logs(log_format: Literal["json", "console"], log_level: str) -> None:
    """Set up logging of this process, the standard library's loggers included."""
    renderer: Any = structlog.processors.JSONRenderer(sort_keys=True)
    if log_format == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    shared_steps: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _error_without_values,
        _without_text,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared_steps,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = _Handler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared_steps,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    # Other handlers stay: they belong to whoever embeds this process, such as a test's capture.
    root.handlers[:] = [*(h for h in root.handlers if not isinstance(h, _Handler)), handler]
    root.setLevel(log_level.upper())
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


def configure_logs_once(log_format: Literal["json", "console"], log_level: str) -> None:
    """Set up logging unless the process has done so; never leave the library's own defaults.

    Those print the local variables of a failing call, and with them what people said.
    """
    if not structlog.is_configured():
        configure_logs(log_format, log_level)


def get_logger(part: str) -> structlog.stdlib.BoundLogger:
    """Return the logger `stratagate.<part>`."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(f"stratagate.{part}")
    return logger


class _Handler(logging.StreamHandler[Any]):
    """Marks the handler as ours, so that setting up twice does not log twice."""


def _without_text(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Drop fields that could hold a person's words, and bound the others."""
    for name in _TEXT_FIELDS & event.keys():
        del event[name]
    for name, value in event.items():
        if isinstance(value, str) and len(value) > _LONGEST_VALUE and name != "error_at":
            event[name] = value[:_LONGEST_VALUE] + "…"
    return event


def _error_without_values(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Say an exception's type and place: a driver's message may quote the row it failed on."""
    info = event.pop("exc_info", None)
    error = info if isinstance(info, BaseException) else None
    if error is None and info:
        error = info[1] if isinstance(info, tuple) else sys.exc_info()[1]
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        event["error_type"] = f"{type(error).__module__}.{type(error).__qualname__}"
        event["error_at"] = [f"{f.filename}:{f.lineno} {f.name}" for f in frames]
    return event
