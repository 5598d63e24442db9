"""Makes librdkafka's client fail for good, as it does by itself where a broker lost its state."""

from __future__ import annotations

import ctypes
from pathlib import Path

from confluent_kafka import KafkaError, Producer

_MAPS = Path("/proc/self/maps")


def fail_for_good(producer: Producer) -> None:
    """Raise a fatal error inside a client, by the function that librdkafka has for tests.

    The Python client does not offer it, so it is called in the library that is loaded already, on
    the handle that stands behind the object's header.
    """
    library = ctypes.CDLL(_library())
    handle = ctypes.c_void_p.from_address(id(producer) + object.__basicsize__).value
    fail = library.rd_kafka_test_fatal_error
    fail.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
    fail.restype = ctypes.c_int
    assert fail(handle, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER, b"made by a test") == 0


def _library() -> str:
    found = {line.split()[-1] for line in _MAPS.read_text().splitlines() if "librdkafka" in line}
    (path,) = found
    return path
