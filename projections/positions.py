"""Positions in the log of turns, as clients are told them and send them back."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from schemas.errors import InvalidInput

# A partition is an integer of 4 bytes and an offset one of 8, in Kafka and in the read model.
_POSITION: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,18})")


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPosition:
    """Where a turn stands in ``memledger.turns``; written ``<partition>:<offset>``.

    Attributes:
        partition: the partition, from 0.
        offset: the turn's offset in it, from 0.
    """

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"

    @classmethod
    def parse(cls, field: str, value: str) -> Self:
        """Read a position.

        Args:
            field: the field's name, as the caller spells it.
            value: what it holds.

        Raises:
            InvalidInput: it is not a position.
        """
        match = _POSITION.fullmatch(value)
        if match is None:
            raise InvalidInput(
                field=field,
                problem="is not a position",
                remedy="send the position that POST /v1/turns answered with, such as 3:1042",
            )
        return cls(partition=int(match[1]), offset=int(match[2]))
