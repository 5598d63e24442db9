"""Decoding JSON that a stranger wrote, so that what is odd in one value costs no other."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from schemas.errors import InvalidInput

_DIGITS_MAX: Final = 32
"""Whole numbers of more digits become floats: reading one takes a time that grows with the square
of its length, and no field holds such a number."""

_SHOWN_MAX: Final = 40


class RepeatedNames(dict[str, object]):
    """An object in which a name stands more than once, so that nobody knows what it says.

    Attributes:
        repeated: such a name.
    """

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = next(name for name, count in counts.items() if count > 1)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else RepeatedNames(pairs)


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole_number)
"""Lone surrogates that were written as escapes come through, and so do NaN and Infinity, which are
numbers that no field takes: the policy refuses them where they stand."""


def utf8_text(body: bytes | bytearray) -> str:
    """Return the text of a body; a byte order mark in front of it is ignored.

    Raises:
        InvalidInput: it is not UTF-8.
    """
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(f"is not UTF-8 at byte {error.start}") from None


def decode_text(text: str, *, decoder: json.JSONDecoder = DECODER) -> object:
    """Return what a JSON text says; an object with a repeated name is a :class:`RepeatedNames`.

    Args:
        text: the text.
        decoder: what makes objects and numbers of it.

    Raises:
        InvalidInput: it is not JSON, or nested too deeply to be read.
    """
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        # Some of Python's messages end with "at" themselves.
        message = error.msg.removesuffix(" at")
        raise _unreadable(
            f"is not JSON: {message} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise _unreadable("is nested too deeply") from None


def decode_json(body: bytes | bytearray) -> object:
    """Return what UTF-8 JSON says; see :func:`utf8_text` and :func:`decode_text`.

    Raises:
        InvalidInput: it is not JSON in UTF-8, or nested too deeply to be read.
    """
    return decode_text(utf8_text(body))


def require_names_once(body: object) -> None:
    """Refuse an object in which a name stands more than once.

    Raises:
        InvalidInput: it is one; the field is the name.
    """
    if isinstance(body, RepeatedNames):
        raise InvalidInput(
            field=shown_name(body.repeated),
            problem="is there more than once",
            remedy="send each field once",
        )


def shown_name(name: str) -> str:
    """Return a name that a caller sent as far as it can be shown: cut, and in ASCII."""
    return ascii(name[:_SHOWN_MAX])[1:-1] or "(a name of no characters)"


def _unreadable(problem: str) -> InvalidInput:
    return InvalidInput(
        field="body", problem=problem, remedy="send one JSON object encoded as UTF-8"
    )
