"""Reading decoded JSON as a model, and telling what is wrong with it in the words of the policy."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from schemas import text
from schemas.errors import InvalidInput
from schemas.json_text import RepeatedNames, require_names_once, shown_name

MOMENT: Final = {"format": "date-time"}
"""What a field says of itself in its JSON Schema where its text is a time."""

_NAMES_SHOWN_MAX: Final = 40
_EXAMPLE: Final = '"2026-03-01T09:30:00+01:00"'


class Body(BaseModel):
    """The base of what a caller sends: closed to unknown fields, and nothing is converted."""

    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)


BodyType = TypeVar("BodyType", bound=BaseModel)


def read_body(body: object, model: type[BodyType], *, whole: str) -> BodyType:
    """Return the model that decoded JSON describes.

    Args:
        body: any JSON value.
        model: the model; of texts, numbers, fixed choices and models of such.
        whole: what to call the value itself where it is no object.

    Raises:
        InvalidInput: a field is missing, unknown, there twice, of the wrong type, out of its bounds
            or none of its choices. The first such thing is told; that of an inner object is named
            ``outer.inner``.
    """
    _require_names_once(body, model)
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise _explained(error, body, model, whole) from None


def documented_body(*models: type[BaseModel]) -> dict[str, Any]:
    """Return the description of a request's body, any of the models, as OpenAPI has it."""
    schemas = [json_schema_of(model) for model in models]
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def json_schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON Schema as one piece, which can stand inside of another document."""
    schema = model.model_json_schema()
    inner = schema.pop("$defs", {})

    def whole(part: Any) -> Any:  # noqa: ANN401 - any part of a JSON document
        if isinstance(part, list):
            return [whole(item) for item in part]
        if not isinstance(part, dict):
            return part
        reference = part.get("$ref")
        if reference is None:
            return {name: whole(value) for name, value in part.items()}
        rest = {name: whole(value) for name, value in part.items() if name != "$ref"}
        return {**whole(inner[reference.removeprefix("#/$defs/")]), **rest}

    result: dict[str, Any] = whole(schema)
    return result


def _require_names_once(body: object, model: type[BaseModel]) -> None:
    require_names_once(body)
    for name, value, _ in _inner_objects(body, model):
        if isinstance(value, RepeatedNames):
            raise InvalidInput(
                field=f"{name}.{shown_name(value.repeated)}",
                problem="is there more than once",
                remedy="send each field once",
            )


def _inner_objects(
    body: object, model: type[BaseModel]
) -> Iterator[tuple[str, dict[str, object], type[BaseModel]]]:
    """Yield the name, the value and the model of each field that is an object of its own."""
    if not isinstance(body, dict):
        return
    for name in model.model_fields:
        inner, value = _inner_model(model, name), body.get(name)
        if inner is not None and isinstance(value, dict):
            yield name, value, inner


def _inner_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    """Return the model of a field that is an object of its own, ``None`` of any other field."""
    return next(
        (
            kind
            for kind in _kinds(model, name)
            if isinstance(kind, type) and issubclass(kind, BaseModel)
        ),
        None,
    )


def _kinds(model: type[BaseModel], name: str) -> list[object]:
    """Return the types that a field may have, but for the type of nothing."""
    annotation = model.model_fields[name].annotation
    is_union = get_origin(annotation) in (Union, types.UnionType)
    kinds: list[object] = list(get_args(annotation)) if is_union else [annotation]
    return [kind for kind in kinds if kind is not types.NoneType]


def _place(location: tuple[str | int, ...], model: type[BaseModel]) -> list[str]:
    """Return the names of the fields that lead to a place, without the types that were tried."""
    name = str(location[0])
    inner = _inner_model(model, name)
    if inner is None or len(location) == 1:
        return [name]
    return [name, *_place(location[1:], inner)]


def _explained(
    error: ValidationError, body: object, model: type[BaseModel], whole: str
) -> InvalidInput:
    # Before the validator's own findings: it looks at no value where a name is not even text.
    unknown = _unknown_fields(body, model)
    if unknown is not None:
        return unknown
    detail = error.errors(include_url=False, include_input=False)[0]
    if not detail["loc"]:
        return InvalidInput(
            field=whole, problem="is not a JSON object", remedy=f"send an object for each {whole}"
        )
    place = _place(detail["loc"], model)
    field = ".".join(place)
    if detail["type"] == "missing":
        return InvalidInput(field=field, problem="is missing", remedy="send it")
    if detail["type"] == "string_unicode":
        # Pydantic does not tell where; the policy for text does.
        try:
            text.normal_form(field, _value_at(body, place))
        except InvalidInput as told:
            return told
    problem, remedy = _problem_and_remedy(detail, model, place)
    return InvalidInput(field=field, problem=problem, remedy=remedy)


def _unknown_fields(body: object, model: type[BaseModel]) -> InvalidInput | None:
    if not isinstance(body, dict):
        return None
    levels = [("", body, model)]
    levels += [(f"{name}.", value, inner) for name, value, inner in _inner_objects(body, model)]
    for prefix, value, known in levels:
        names = [str(name) for name in value if name not in known.model_fields]
        if names:
            missing = [
                f"{prefix}{name}"
                for name, field in known.model_fields.items()
                if field.is_required() and name not in value
            ]
            return _unknown(prefix, names, missing, known)
    return None


def _unknown(
    prefix: str, names: list[str], missing: list[str], model: type[BaseModel]
) -> InvalidInput:
    shown = [f"'{prefix}{shown_name(name)}'" for name in names[:_NAMES_SHOWN_MAX]]
    lacking = f", and {' and '.join(missing)} missing" if missing else ""
    return InvalidInput(
        field=f"{prefix}{shown_name(names[0])}",
        problem=f"unknown field{'s' if len(names) > 1 else ''} {', '.join(shown)}{lacking}",
        remedy=f"{'rename it or ' if missing else ''}leave it out; "
        f"known are {', '.join(model.model_fields)}",
    )


def _value_at(body: object, place: list[str]) -> str:
    for name in place:
        assert isinstance(body, dict)  # noqa: S101 - the validator found something at this place
        body = body[name]
    assert isinstance(body, str)  # noqa: S101 - as above
    return body


def _problem_and_remedy(
    detail: Mapping[str, Any], model: type[BaseModel], place: list[str]
) -> tuple[str, str]:
    bounds = detail.get("ctx", {})
    match detail["type"]:
        case "enum":
            return "is none of its values", f"send {bounds['expected']}"
        case "greater_than_equal":
            return "is too small", f"send {bounds['ge']} or more"
        case "less_than_equal":
            return "is too large", f"send {bounds['le']} or less"
        case _:
            return "is not of the type it should be", _wanted(model, place)


def _wanted(model: type[BaseModel], place: list[str]) -> str:
    inner = _inner_model(model, place[0])
    if inner is not None and len(place) > 1:
        return _wanted(inner, place[1:])
    if inner is not None:
        return f"send an object with {', '.join(inner.model_fields)}"
    kinds = _kinds(model, place[0])
    if model.model_fields[place[0]].json_schema_extra == MOMENT:
        return f"send a time in quotes, such as {_EXAMPLE}"
    if kinds == [str]:
        return "send a JSON string, in quotes"
    if kinds == [bool]:
        return "send true or false"
    return "send a whole number" if kinds == [int] else "send a JSON string or a number"
