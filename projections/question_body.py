"""Reading the body of a question, each wrong field told by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from schemas.errors import InvalidInput
from schemas.json_text import decode_json, require_names_once

Question = TypeVar("Question", bound=BaseModel)


def read_question(content: bytearray, model: type[Question], *, needs: str) -> Question:
    """Return the question that a body asks.

    Args:
        content: the body.
        model: what it must be.
        needs: the fields that it cannot do without, as they are told to who sends something else.

    Raises:
        InvalidInput: it is not a JSON object, or one in which a name stands twice.
        RequestValidationError: it is not a question; names each field.
    """
    body = decode_json(content)
    require_names_once(body)
    if not isinstance(body, dict):
        raise InvalidInput(
            field="body",
            problem="is not a JSON object",
            remedy=f"send the object of a question, with {needs}",
        )
    unknown = [name for name in body if name not in model.model_fields]
    if unknown:
        # Names alone: the validator looks at no value where a name is not even text.
        known = {"known": ", ".join(model.model_fields)}
        raise RequestValidationError(
            [{"type": "extra_forbidden", "loc": ("body", name), "ctx": known} for name in unknown]
        )
    try:
        return model.model_validate(body)
    except ValidationError as error:
        located: list[Mapping[str, Any]] = [
            {**detail, "loc": ("body", *detail["loc"])}
            for detail in error.errors(include_input=False, include_url=False)
        ]
        raise RequestValidationError(located) from None


def documented_question(model: type[BaseModel]) -> dict[str, Any]:
    """Return the description of such a body as OpenAPI has it."""
    return {
        "required": True,
        "content": {"application/json": {"schema": model.model_json_schema()}},
    }
