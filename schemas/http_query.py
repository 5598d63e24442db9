"""Reading the query of an address without guessing what its sender meant."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

from schemas.errors import InvalidInput
from schemas.json_text import shown_name


def require_plain_query(query: bytes) -> None:
    """Refuse a query that decoders read differently: bytes that are no text, a parameter twice.

    Decoders put the same replacement for all bytes that they cannot read, and take the last of
    several values: two users would become one, or one be asked for and another answered.

    Args:
        query: what stands behind the ``?`` of an address, as it was sent.

    Raises:
        InvalidInput: a parameter is not UTF-8, or is there more than once.
    """
    seen = set()
    for part in query.split(b"&"):
        name, _, value = part.partition(b"=")
        decoded = _decoded(name, told=name)
        _decoded(value, told=name)
        if part and decoded in seen:
            raise InvalidInput(
                field=shown_name(decoded), problem="is there more than once", remedy="send it once"
            )
        seen.add(decoded)


def require_no_query(query: bytes) -> None:
    """Refuse parameters where an address takes none: they would be ignored in silence.

    Args:
        query: what stands behind the ``?`` of an address, as it was sent.

    Raises:
        InvalidInput: there is a parameter.
    """
    require_plain_query(query)
    if query:
        name = _decoded(query.partition(b"&")[0].partition(b"=")[0], told=b"")
        raise InvalidInput(
            field=shown_name(name), problem="is not a known parameter", remedy="remove it"
        )


def _decoded(sent: bytes, *, told: bytes) -> str:
    try:
        return unquote_to_bytes(sent.replace(b"+", b" ")).decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            field=shown_name(told.decode("ascii", "replace")),
            problem="is not UTF-8 once its percent signs are read",
            remedy="encode the text as UTF-8, and each byte of it as % and two hexadecimal digits",
        ) from None
