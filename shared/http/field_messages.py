"""What was wrong with a field, in words of the contract instead of the validator's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OBJECT = "expected an object"
_WHOLE = "expected a whole number"
_NUMBER = "expected a number"
_YES_NO = "expected true or false"
_MESSAGES = {
    "extra_forbidden": "no such field; leave it out",
    "missing": "this field is required",
    "too_short": "give at least {min_length}, not {actual_length}",
    "too_long": "give at most {max_length}, not {actual_length}",
    "string_too_short": "use {min_length} or more characters",
    "string_too_long": "use {max_length} characters or fewer",
    "string_type": "expected a string",
    "list_type": "expected a list",
    "set_type": "expected a list",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "expected a finite number",
    "bool_type": _YES_NO,
    "bool_parsing": _YES_NO,
    "literal_error": "use {expected}",
    "enum": "use {expected}",
    "greater_than": "use more than {gt}",
    "greater_than_equal": "use {ge} or more",
    "less_than": "use less than {lt}",
    "less_than_equal": "use {le} or less",
}


def field_message(finding: Mapping[str, Any]) -> str:
    """Return the message of one of pydantic's findings; an unlisted kind keeps its own words."""
    template = _MESSAGES.get(finding["type"])
    if template is None:
        return str(finding["msg"]).removeprefix("Value error, ")
    if finding["type"] == "missing" and tuple(finding["loc"]) == ("body",):
        return "send a JSON object as the body"
    return template.format(**finding.get("ctx", {}))
