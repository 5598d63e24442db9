"""Telling what is wrong with a setting, and what to give instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo

_KINDS = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "bool_parsing": "true or false",
    "bool_type": "true or false",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "is too small", "give {} or more"),
    "greater_than": ("gt", "is too small", "give more than {}"),
    "less_than_equal": ("le", "is too large", "give {} or less"),
    "less_than": ("lt", "is too large", "give less than {}"),
}


def problem_of(detail: Mapping[str, Any], field: FieldInfo) -> str:
    """Return what is wrong with a variable and the remedy, in one sentence.

    What was given is not repeated: it may be a secret.

    Args:
        detail: what pydantic found.
        field: the setting.
    """
    context = detail.get("ctx", {})
    match detail["type"]:
        case kind if kind in _BOUNDS:
            name, problem, remedy = _BOUNDS[kind]
            both = _both_bounds(field)
            return f"{problem}: {both or remedy.format(context[name])}{_or_default(field)}"
        case kind if kind in _KINDS:
            return f"is not {_KINDS[kind]}: give one{_or_default(field)}"
        case "literal_error" | "enum":
            return f"is none of its values: give {context['expected']}"
        case "string_too_short":
            return f"is empty: give a value{_or_default(field)}"
        case "value_error":
            return str(context["error"])
        case _:
            message = str(detail["msg"])
            return f"{message[:1].lower()}{message[1:]}: correct it{_or_default(field)}"


def _both_bounds(field: FieldInfo) -> str | None:
    bounds: dict[str, object] = {}
    for rule in field.metadata:
        bounds |= {name: getattr(rule, name) for name in ("ge", "le") if hasattr(rule, name)}
    return f"give {bounds['ge']} to {bounds['le']}" if len(bounds) == 2 else None  # noqa: PLR2004 - both


def _or_default(field: FieldInfo) -> str:
    default = field.get_default()
    return ", or leave it out" + ("" if default is None else f" for {default}")
