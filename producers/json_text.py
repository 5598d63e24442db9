"""Decoding JSON that a stranger wrote."""

from __future__ import annotations

import json

from schemas.errors import InvalidInput


def decode_json(body: bytes | bytearray) -> object:
    """Return what UTF-8 JSON says; a byte order mark in front of it is ignored.

    Raises:
        InvalidInput: it is not JSON in UTF-8, or nested too deeply to be read.
    """
    try:
        return json.loads(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _unreadable(f"is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise _unreadable(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise _unreadable("is nested too deeply") from None
    except ValueError:
        # An integer of more digits than Python converts.
        raise _unreadable("holds a number that is too long") from None


def _unreadable(problem: str) -> InvalidInput:
    return InvalidInput(
        field="body", problem=problem, remedy="send one JSON object encoded as UTF-8"
    )
