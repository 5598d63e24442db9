"""Vectors as pgvector's ``halfvec``, sent and received in its binary format."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import TupleRow
from psycopg.types import TypeInfo

from schemas.errors import ConfigurationError
from schemas.memory import Embedding

Halves: TypeAlias = bytes
"""Components as little-endian IEEE 754 half floats, as :class:`~schemas.memory.Embedding` has."""

# pgvector's halfvec_send: the dimension, an unused word, then each half in network order.
_VECTOR_HEADER: Final = struct.Struct(">hh")
# Postgres' array_send: dimensions, whether there are nulls, type, then length and lower bound.
_ARRAY_HEADER: Final = struct.Struct(">iiIii")
_LENGTH: Final = struct.Struct(">i")
_NULL: Final = _LENGTH.pack(-1)
_BYTES_A_HALF: Final = 2


@dataclass(frozen=True, slots=True)
class HalfVectors:
    """A parameter: a ``halfvec[]`` with one element, or none, for each row.

    Attributes:
        items: the elements.
    """

    items: Sequence[Halves | None]


def halves_of(vector: NDArray[np.float32]) -> Halves:
    """Return a vector of shape ``(dimension,)`` as half floats."""
    return vector.astype("<f2").tobytes()


def usable_halves(embedding: Embedding | None, *, model: str, dimension: int) -> Halves | None:
    """Return the vector of a memory if a read model of that model and dimension can hold it."""
    if embedding is None or embedding.model != model or embedding.dimension != dimension:
        return None
    if len(embedding.halves) != dimension * _BYTES_A_HALF:
        return None
    vector = np.frombuffer(embedding.halves, "<f2").astype(np.float32)
    # Of NaN and of what is infinite, the sum is so too; a zero vector has no direction.
    squares = float(vector @ vector)
    return embedding.halves if 0 < squares < float("inf") else None


@dataclass(frozen=True, kw_only=True, slots=True)
class VectorTypes:
    """The numbers that a database gave to pgvector's types; they differ between databases.

    Attributes:
        halfvec: the number of ``halfvec``.
        halfvec_array: the number of ``halfvec[]``.
    """

    halfvec: int
    halfvec_array: int

    @staticmethod
    async def fetch(connection: AsyncConnection[TupleRow]) -> VectorTypes:
        """Return the numbers of a connection's database.

        Raises:
            ConfigurationError: pgvector is not installed there.
        """
        info = await TypeInfo.fetch(connection, "halfvec")
        if info is None:
            raise ConfigurationError(
                "the read model's database has no type halfvec: install pgvector 0.7 or later and "
                "run CREATE EXTENSION vector as a superuser"
            )
        return VectorTypes(halfvec=info.oid, halfvec_array=info.array_oid)

    def register(self, connection: AsyncConnection[TupleRow]) -> None:
        """Let a connection take :class:`HalfVectors` and return vectors as :data:`Halves`."""
        dumper = _dumper(self.halfvec, self.halfvec_array)
        connection.adapters.register_dumper(HalfVectors, dumper)
        connection.adapters.register_loader(self.halfvec, _HalfVectorLoader)


@cache
def _dumper(element: int, array: int) -> type[Dumper]:
    class _HalfVectorsDumper(Dumper):
        format = Format.BINARY
        oid = array

        def dump(self, obj: HalfVectors) -> Buffer:
            parts = [_ARRAY_HEADER.pack(1, 1, element, len(obj.items), 1)]
            parts += [_NULL if halves is None else _sent(halves) for halves in obj.items]
            return b"".join(parts)

    return _HalfVectorsDumper


class _HalfVectorLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> Halves:
        return np.frombuffer(data, ">f2", offset=_VECTOR_HEADER.size).astype("<f2").tobytes()


def _sent(halves: Halves) -> bytes:
    vector = _VECTOR_HEADER.pack(len(halves) // _BYTES_A_HALF, 0) + (
        np.frombuffer(halves, "<u2").byteswap().tobytes()
    )
    return _LENGTH.pack(len(vector)) + vector
