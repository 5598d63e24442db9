"""What text, identifiers and times must be before anything else sees them.

The policy at the door, the same for HTTP requests, imports and commands:

- Text is brought into Unicode normal form C and otherwise kept as it is: never trimmed, never cut.
- NUL and lone surrogates are refused, since neither UTF-8 nor Postgres can hold them; so are
  combining marks piled up without end, which take minutes to bring into normal form.
- Blank is what shows nothing: white space, control characters and those that only format.
- An identifier is opaque: ``/``, blanks, ``..`` and ``%`` mean nothing in it. It is refused where
  it is empty or blank, too long, or holds a control character.
- A time names its zone and lies between 1970 and now.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from schemas.errors import InputTooLarge, InvalidInput

USER_ID_CHARACTERS_MAX: Final = 512
IDENTIFIER_CHARACTERS_MAX: Final = 512

MARKS_MAX: Final = 50
"""The most combining marks in a row. No script needs more than a few (Unicode's stream-safe text
has 30 at most), and putting them in order takes a time that grows with their square."""

SKEW_MAX: Final = timedelta(minutes=5)
"""How far a client's clock may run ahead: the tolerance that is customary in Kerberos."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIME_CHARACTERS_MAX: Final = 64  # datetime reads fractions of any length
_MILLISECONDS_FROM: Final = 100_000_000_000
"""From here a number counts milliseconds: as such it is March 1973, as seconds the year 5138."""

_COMPOSED_MAX: Final = 4
"""No more characters than that become one in normal form C: a Greek letter and three marks."""

_MARK_CATEGORIES: Final = ("Mn", "Mc", "Me")
_UNSEEN: Final = ("Cc", "Cf", "Zs", "Zl", "Zp")
_BEGINNING: Final = 100

_DATE: Final = r"(?:\d{4}-\d\d-\d\d|\d{8}|\d{4}-W\d\d-\d|\d{4}W\d{3})"
DATE_ALONE: Final = re.compile(_DATE, re.ASCII)
"""A day as ISO 8601 spells it."""
# Narrower than datetime, which takes any letter between date and time, and hour 24 since 3.13.
_ISO_8601: Final = re.compile(
    rf"{_DATE}[T ](?:[01]\d|2[0-3])(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?"
    r"(?:Z|[+-]\d\d(?::?\d\d(?::?\d\d(?:\.\d+)?)?)?)?",
    re.ASCII,
)
_LEAP_SECOND: Final = re.compile(r"[T ]\d\d:?\d\d:?60")
_EXAMPLE: Final = "send date, time and zone, such as 2026-03-01T09:30:00+01:00"


def clean_text(field: str, value: str, *, max_characters: int, blank: bool = False) -> str:
    """Return ``value`` in Unicode normal form C.

    Args:
        field: the field's name, as the caller spells it.
        value: the text.
        max_characters: the most characters (code points) it may have, counted after normalisation.
        blank: whether it may be empty or nothing but white space.

    Raises:
        InvalidInput: it is blank, or holds NUL, a lone surrogate or more than ``MARKS_MAX``
            combining marks in a row; the message tells the position, counted from 0.
        InputTooLarge: it is longer than ``max_characters``.
    """
    # What cannot fit however it is composed is not worth composing.
    _require_length(field, value, _COMPOSED_MAX * max_characters, limit=max_characters)
    normal = normal_form(field, value)
    _require_length(field, normal, max_characters, limit=max_characters)
    if not blank and _is_blank(normal):
        raise InvalidInput(
            field=field, problem="is empty or blank", remedy="send at least one visible character"
        )
    return normal


def normal_form(field: str, value: str) -> str:
    """Return a text in Unicode normal form C, in a time that grows with its length alone.

    Args:
        field: the field's name, as the caller spells it.
        value: the text.

    Raises:
        InvalidInput: it holds NUL, a lone surrogate or more than ``MARKS_MAX`` combining marks in a
            row.
    """
    nul = value.find("\x00")
    if nul >= 0:
        raise InvalidInput(
            field=field,
            problem=f"holds a NUL character at position {nul}",
            remedy="remove it",
        )
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            field=field,
            problem=f"holds a lone surrogate (half a character) at position {error.start}",
            remedy="send whole characters: a text was cut inside one, or decoded wrongly",
        ) from None
    _require_few_marks(field, value)
    return unicodedata.normalize("NFC", value)


def clean_user_id(value: str) -> str:
    """Return a user id in Unicode normal form C, so that both spellings of an accent are one user.

    Raises:
        InvalidInput: it is empty or blank, or holds a control character, a lone surrogate or marks
            piled up.
        InputTooLarge: it is longer than ``USER_ID_CHARACTERS_MAX``.
    """
    return _clean_opaque("user_id", value, USER_ID_CHARACTERS_MAX)


def clean_identifier(field: str, value: str) -> str:
    """Return a conversation's or a turn's client-side id in Unicode normal form C.

    Raises:
        InvalidInput: as for :func:`clean_user_id`.
        InputTooLarge: it is longer than ``IDENTIFIER_CHARACTERS_MAX``.
    """
    return _clean_opaque(field, value, IDENTIFIER_CHARACTERS_MAX)


def read_iso_8601(field: str, value: str) -> datetime:
    """Return the time that an ISO 8601 text names: aware where it names a zone, else naive.

    Args:
        field: the field's name, as the caller spells it.
        value: date and time of day, and the zone.

    Raises:
        InvalidInput: it is not such a time.
    """
    # RFC 3339 allows the letters in lower case, datetime only in upper case.
    told = value[: _TIME_CHARACTERS_MAX + 1].upper()
    problem, remedy = "is not an ISO 8601 time", _EXAMPLE
    if _ISO_8601.fullmatch(told) and len(told) <= _TIME_CHARACTERS_MAX:
        try:
            return datetime.fromisoformat(told)
        except ValueError:
            problem = "is not an ISO 8601 time: there is no such day or time of day"
            if _LEAP_SECOND.search(told):
                problem, remedy = "names a leap second", "send second 59 instead of 60"
    elif DATE_ALONE.fullmatch(told):
        problem = "names no time zone and no time of day"
    elif told.isdecimal():
        problem = "is not an ISO 8601 time but a number"
    raise InvalidInput(field=field, problem=problem, remedy=remedy)


def parse_moment(
    field: str, value: str, *, now: datetime, skew: timedelta = SKEW_MAX
) -> tuple[datetime, int]:
    """Return the moment that an ISO 8601 text names, in UTC, and its offset from UTC in minutes.

    Args:
        field: the field's name, as the caller spells it.
        value: date, time and zone, such as ``2026-03-01T09:30:00+01:00``.
        now: the current time, aware.
        skew: how far ahead of ``now`` it may lie.

    Raises:
        InvalidInput: it is not such a time, names no zone, lies before 1970 or in the future.
    """
    moment = read_iso_8601(field, value)
    offset = moment.utcoffset()
    if offset is None:
        raise InvalidInput(
            field=field,
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00",
        )
    return _require_past(field, moment, now=now, skew=skew), round(offset.total_seconds() / 60)


def parse_epoch(
    field: str, value: float | Decimal, *, now: datetime, skew: timedelta = SKEW_MAX
) -> datetime:
    """Return the moment of a number of seconds since 1970, as exports of chats tell times.

    Args:
        field: the field's name, as the file spells it.
        value: seconds, or milliseconds where it is 100,000,000,000 or more.
        now: the current time, aware.
        skew: how far ahead of ``now`` it may lie.

    Raises:
        InvalidInput: it is not a finite number, lies before 1970 or in the future.
    """
    try:
        seconds = float(value)
        moment = _EPOCH + timedelta(
            seconds=seconds / 1000 if seconds >= _MILLISECONDS_FROM else seconds
        )
    except (OverflowError, ValueError):
        # Neither a float nor a calendar reaches that far, or it is not a number at all.
        raise InvalidInput(
            field=field,
            problem="is not a number of seconds since 1970",
            remedy="give seconds since 1970-01-01T00:00:00Z, or an ISO 8601 time with its zone",
        ) from None
    return _require_past(field, moment, now=now, skew=skew)


def _require_few_marks(field: str, value: str) -> None:
    # Whoever stands in every such row is looked at, which is one character in so many.
    for sampled in range(MARKS_MAX, len(value), MARKS_MAX + 1):
        if not _is_mark(value[sampled]):
            continue
        first = last = sampled
        while first > 0 and _is_mark(value[first - 1]) and last - first < MARKS_MAX:
            first -= 1
        while last + 1 < len(value) and _is_mark(value[last + 1]) and last - first < MARKS_MAX:
            last += 1
        if last - first >= MARKS_MAX:
            raise InvalidInput(
                field=field,
                problem=f"piles up more than {MARKS_MAX} combining marks at position {first}",
                remedy="send the characters without the marks that only decorate them",
            )


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in _MARK_CATEGORIES


def _is_blank(value: str) -> bool:
    def shows_nothing(characters: Iterable[str]) -> bool:
        return all(unicodedata.category(character) in _UNSEEN for character in characters)

    # Nearly every text shows something at once, and of a long one each character is asked once.
    return not value.strip() or (
        shows_nothing(value[:_BEGINNING]) and shows_nothing(frozenset(value))
    )


def _clean_opaque(field: str, value: str, max_characters: int) -> str:
    normal = clean_text(field, value, max_characters=max_characters)
    # Printable text, which nearly every identifier is, holds no control character.
    if not normal.isprintable():
        for position, character in enumerate(normal):
            if unicodedata.category(character) == "Cc":
                raise InvalidInput(
                    field=field,
                    problem=f"holds the control character U+{ord(character):04X} at position "
                    f"{position}",
                    remedy="remove it",
                )
    return normal


def _require_length(field: str, value: str, max_characters: int, *, limit: int) -> None:
    if len(value) > max_characters:
        raise InputTooLarge(
            field=field,
            problem=f"has {len(value)} characters, the limit is {limit}",
            remedy="shorten it, or send it in parts",
        )


def _require_past(field: str, moment: datetime, *, now: datetime, skew: timedelta) -> datetime:
    # Compared before conversion, which overflows at either end of the calendar.
    if moment < _EPOCH:
        raise InvalidInput(
            field=field,
            problem="lies before 1970",
            remedy="send when it was said; no chat is older than that",
        )
    if moment > now + skew:
        raise InvalidInput(
            field=field,
            problem=f"lies more than {int(skew.total_seconds() // 60)} minutes in the future",
            remedy="send when it was said, and check the sender's clock and unit",
        )
    return moment.astimezone(UTC)
