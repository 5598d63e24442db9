"""Remembering what came lately, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """The values of the keys that were set last, a bounded number of them."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self._values: OrderedDict[bytes, Value] = OrderedDict()

    def get(self, key: bytes) -> Value | None:
        """Return the value of a key, or ``None`` where it never came or long ago."""
        return self._values.get(key)

    def set(self, key: bytes, value: Value) -> None:
        """Remember a value; the key that was set longest ago gives way."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._size_max:
            self._values.popitem(last=False)
