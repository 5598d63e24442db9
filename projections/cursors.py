"""Pages of a listing: how long one may be, and the cursor that continues behind it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self
from uuid import UUID

from schemas.errors import InvalidInput

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LISTING_BYTES: Final = 8
# The time that the last row is ordered by, its id, and what was listed.
_PACKED: Final = struct.Struct(f">q16s{_LISTING_BYTES}s")


def require_between(field: str, value: int, most: int) -> None:
    """Refuse what is not from 1 to the most that there may be.

    Raises:
        InvalidInput: it is not.
    """
    if not 1 <= value <= most:
        raise InvalidInput(
            field=field, problem=f"is {value}", remedy=f"send a number from 1 to {most}"
        )


def listing_digest(*arguments: object) -> bytes:
    """Return what stands for a listing's arguments in its cursors."""
    text = " ".join(map(str, arguments))
    return hashlib.blake2s(text.encode(), digest_size=_LISTING_BYTES, person=b"ml-list").digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursor:
    """Where a page ended, and of which listing.

    Attributes:
        moment, row_id: what the last row of the page is ordered by.
        listing: a digest of what was listed, so that a cursor continues nothing else.
    """

    moment: datetime
    row_id: UUID
    listing: bytes

    def encode(self) -> str:
        """Return the cursor as text for an address."""
        moment = (self.moment - _EPOCH) // _MICROSECOND
        packed = _PACKED.pack(moment, self.row_id.bytes, self.listing)
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str, listing: bytes, *, arguments: str) -> Self:
        """Read a cursor that a client sent back.

        Args:
            text: what was sent.
            listing: the digest of the listing that it is to continue.
            arguments: what has to be the same as for the page before, for the error's remedy.

        Raises:
            InvalidInput: it is not a cursor, or one of another listing.
        """
        try:
            padded = text + "=" * (-len(text) % 4)
            moment, row_id, found = _PACKED.unpack(base64.b64decode(padded, b"-_", validate=True))
            decoded = _EPOCH + moment * _MICROSECOND
        except (binascii.Error, struct.error, OverflowError, ValueError):
            raise InvalidInput(
                field="cursor",
                problem="is not a cursor",
                remedy="send next_cursor of the page before as it is",
            ) from None
        if found != listing:
            raise InvalidInput(
                field="cursor",
                problem="belongs to another listing",
                remedy=f"send it with the same {arguments} as the page it came with",
            )
        return cls(moment=decoded, row_id=UUID(bytes=row_id), listing=found)
