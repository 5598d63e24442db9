"""An attribute that is made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - it is used as a decorator, as property is
    """Like ``functools.cached_property``, which up to Python 3.11 takes a lock each first time.

    Of two threads that ask at once both make it, and one of the equal values stays.

    Args:
        make: makes the value out of the object.
    """

    def __init__(self, make: Callable[[Any], Value]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> Value | Self:
        """Make the value, and put it in this attribute's place."""
        if instance is None:
            return self
        value = self._make(instance)
        # Found before this from now on, since this has no setter.
        instance.__dict__[self._name] = value
        return value
