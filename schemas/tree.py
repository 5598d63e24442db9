"""The tree of a subject's keys: a puncturable pseudo-random function.

The construction is that of Goldreich, Goldwasser and Micali (1986), with 16 children a node: a
seed of 16 bytes at every node, the seed of a child being a keyed hash of its parent's, and the
leaves addressed by 64 bits, that is 16 steps of 4 bits. Whoever holds a node's seed can compute
everything below it and nothing else. So one seed, the root's, stands for every key a subject will
ever need, and a key is forgotten by replacing the seed above it with those of the siblings along
its path.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2s
from types import MappingProxyType
from typing import Final
from uuid import UUID

from schemas.errors import MemledgerError

SEED_BYTES: Final = 16
LEAF_KEY_BYTES: Final = 32  # a key of AES-256
ADDRESS_BITS: Final = 64
ARITY: Final = 16
DEPTH: Final = 16
DAY_DEPTH: Final = 4  # the steps of an address that spell its day
FORMAT_VERSION: Final = 1

_NIBBLE_BITS: Final = 4
_RECORD_BITS: Final = 48
_DAY_MAX: Final = 0xFFFF
_EPOCH: Final = dt.date(1970, 1, 1)
_GONE, _KEPT, _INNER = 0, 1, 2  # how the encoding spells what a node is
# The step to a child stands in BLAKE2's personalisation and not in its message, since an empty
# message with a key costs one compression instead of two.
_CHILD_PERSONS: Final = tuple(b"ml-step" + bytes([child]) for child in range(ARITY))
_STEP_PERSONS: Final = {f"{child:x}": person for child, person in enumerate(_CHILD_PERSONS)}
_LEAF_PERSON: Final = b"ml-leaf"

Node = tuple[int, int]
"""A node's place: its depth in steps from the root, and the bits of the address down to it."""


class Punctured(MemledgerError):
    """No kept seed covers the address: its key was forgotten."""


def address_for(day: dt.date | int, record_id: UUID) -> int:
    """Return the 64-bit address of a record's key: 16 bits of day, then 48 bits of its id.

    Args:
        day: the UTC day, or the number of days since 1970-01-01; clamped to 0 to 65535. An aware
            datetime counts by its day in UTC.
        record_id: the id of the source turn, or of the record itself where it has several sources.

    Raises:
        ValueError: ``day`` is a datetime without a time zone.
    """
    if isinstance(day, dt.datetime):
        if day.tzinfo is None:
            raise ValueError("a datetime without a time zone has no UTC day: give it a tzinfo")
        day = day.astimezone(dt.UTC).date()
    days = day if isinstance(day, int) else (day - _EPOCH).days
    return min(max(days, 0), _DAY_MAX) << _RECORD_BITS | record_id.int >> (128 - _RECORD_BITS)


@dataclass(frozen=True, slots=True)
class SeedSet:
    """The seeds that are left of a subject's tree; its secret, kept out of every ``repr``.

    Attributes:
        nodes: the seed of every kept node, no node below another one. Keys are ``(depth, prefix)``.
    """

    nodes: Mapping[Node, bytes] = field(repr=False)

    @staticmethod
    def root(seed: bytes) -> SeedSet:
        """Return the whole tree that grows from a root seed of 16 bytes."""
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        return SeedSet(MappingProxyType({(0, 0): seed}))

    def leaf_key(self, address: int) -> bytes:
        """Return the key of 32 bytes at an address.

        Raises:
            Punctured: the key was forgotten.
        """
        depth, seed = self._cover(address)
        # Spelling the steps as hexadecimal digits is the fastest way over them in pure Python.
        for step in f"{address:016x}"[depth:]:
            person = _STEP_PERSONS[step]
            seed = blake2s(key=seed, digest_size=SEED_BYTES, person=person).digest()
        return blake2s(key=seed, digest_size=LEAF_KEY_BYTES, person=_LEAF_PERSON).digest()

    def puncture(self, prefix: int, depth: int = DEPTH) -> SeedSet:
        """Return the set without a leaf, or without everything below an inner node.

        Args:
            prefix: the address of the leaf, or the first ``depth`` steps of one: a day's number at
                ``DAY_DEPTH`` forgets the day.
            depth: the node's depth, from 0 (everything) to 16 (a leaf).
        """
        kept = {node: seed for node, seed in self.nodes.items() if not _below(node, depth, prefix)}
        for above in range(depth):
            seed = kept.pop((above, prefix >> _NIBBLE_BITS * (depth - above)), None)
            if seed is not None:
                for step in range(above + 1, depth + 1):
                    path = prefix >> _NIBBLE_BITS * (depth - step)
                    for child, child_seed in _children(path >> _NIBBLE_BITS, seed):
                        kept[step, child] = child_seed
                    seed = kept.pop((step, path))
                break
        return SeedSet(MappingProxyType(kept))

    def to_bytes(self) -> bytes:
        """Return the canonical encoding: equal sets have equal bytes.

        A version byte, then the root's state: gone, kept (its seed follows) or inner. An inner
        node is two masks of 16 bits, its kept children and its inner ones, then the seeds of the
        kept and the encodings of the inner ones, both in order.
        """
        if not self.nodes:
            return bytes((FORMAT_VERSION, _GONE))
        root = self.nodes.get((0, 0))
        if root is not None:
            return bytes((FORMAT_VERSION, _KEPT)) + root
        out = bytearray((FORMAT_VERSION, _INNER))
        inner = {
            (above, prefix >> _NIBBLE_BITS * (depth - above))
            for depth, prefix in self.nodes
            for above in range(depth)
        }
        self._encode(out, inner, 0, 0)
        return bytes(out)

    @staticmethod
    def from_bytes(data: bytes) -> SeedSet:
        """Return the set that ``data`` encodes.

        Raises:
            ValueError: the bytes are not a canonical encoding of a known version.
        """
        if len(data) < 2 or data[0] != FORMAT_VERSION:  # noqa: PLR2004 - version and root state
            raise ValueError("not a seed set of a format version that this release knows")
        state, body = data[1], data[2:]
        if state == _KEPT and len(body) == SEED_BYTES:
            return SeedSet.root(body)
        nodes: dict[Node, bytes] = {}
        if state == _INNER:
            if _decode(body, nodes, 0, 0, 0) != len(body):
                raise ValueError("a seed set is followed by bytes that do not belong to it")
        elif state != _GONE or body:
            raise ValueError("the root of a seed set has no valid state")
        return SeedSet(MappingProxyType(nodes))

    def _cover(self, address: int) -> tuple[int, bytes]:
        if address >> ADDRESS_BITS:
            raise ValueError(f"an address has {ADDRESS_BITS} bits: {address}")
        nodes = self.nodes
        for depth in range(DEPTH + 1):
            seed = nodes.get((depth, address >> ADDRESS_BITS - _NIBBLE_BITS * depth))
            if seed is not None:
                return depth, seed
        raise Punctured(f"the key at address {address:016x} was forgotten")

    def _encode(self, out: bytearray, inner: set[Node], depth: int, prefix: int) -> None:
        children = [(depth + 1, prefix << _NIBBLE_BITS | child) for child in range(ARITY)]
        out += _mask(node in self.nodes for node in children)
        out += _mask(node in inner for node in children)
        for node in children:
            out += self.nodes.get(node, b"")
        for node in children:
            if node in inner:
                self._encode(out, inner, *node)


def _children(prefix: int, seed: bytes) -> Iterator[tuple[int, bytes]]:
    for child, person in enumerate(_CHILD_PERSONS):
        child_seed = blake2s(key=seed, digest_size=SEED_BYTES, person=person).digest()
        yield prefix << _NIBBLE_BITS | child, child_seed


def _below(node: Node, depth: int, prefix: int) -> bool:
    """Tell whether ``node`` is the node at ``depth`` and ``prefix``, or lies under it."""
    return node[0] >= depth and node[1] >> _NIBBLE_BITS * (node[0] - depth) == prefix


def _mask(flags: Iterator[bool]) -> bytes:
    return sum(1 << child for child, flag in enumerate(flags) if flag).to_bytes(2, "big")


def _decode(data: bytes, nodes: dict[Node, bytes], at: int, depth: int, prefix: int) -> int:
    """Read the inner node at offset ``at`` into ``nodes`` and return the offset after it."""
    if len(data) < at + 4 or depth >= DEPTH:
        raise ValueError("a seed set ends early or is deeper than the tree")
    kept, inner = (
        int.from_bytes(data[at : at + 2], "big"),
        int.from_bytes(data[at + 2 : at + 4], "big"),
    )
    if kept & inner or not kept | inner:
        raise ValueError("a node of a seed set has no valid state")
    at += 4
    for child in range(ARITY):
        if kept >> child & 1:
            seed = data[at : at + SEED_BYTES]
            if len(seed) != SEED_BYTES:
                raise ValueError("a seed set ends early")
            nodes[depth + 1, prefix << _NIBBLE_BITS | child] = seed
            at += SEED_BYTES
    for child in range(ARITY):
        if inner >> child & 1:
            at = _decode(data, nodes, at, depth + 1, prefix << _NIBBLE_BITS | child)
    return at
