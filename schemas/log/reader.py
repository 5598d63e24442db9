"""Reading stretches of the log: from an offset to the end it had, without a consumer group."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final
from uuid import uuid4

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from schemas.errors import LogUnavailable
from schemas.log.sealed import Headers, LogPosition, LogRecord
from schemas.topics import RECORD_BYTES_MAX

_BATCH: Final = 1000
# consume() waits for a whole batch or this long, also where the end is reached meanwhile.
_POLL_S: Final = 0.05
_QUERY_S: Final = 10.0
_SILENCE_MAX_S: Final = 30.0
_FETCH_WAIT_MS: Final = 500  # librdkafka's default
_FETCH_WAIT_TO_END_MS: Final = 20


def new_consumer(
    bootstrap: str, *, client_id: str, fetch_wait_ms: int = _FETCH_WAIT_MS
) -> Consumer:
    """Return a consumer that joins no group, commits nothing and is told where a partition ends.

    Args:
        bootstrap: ``host:port[,host:port]``.
        client_id: the name under which the broker knows this process.
        fetch_wait_ms: how long the broker holds a fetch that finds nothing; the end of a partition
            is told only when a fetch returns.
    """
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "client.id": client_id,
            # librdkafka asks for a name even where no group is joined.
            "group.id": f"memledger-unjoined-{uuid4()}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "fetch.message.max.bytes": RECORD_BYTES_MAX,
            "allow.auto.create.topics": False,
            "fetch.wait.max.ms": fetch_wait_ms,
            "log_level": 0,  # every function here tells by its error what went wrong
        }
    )


def bounds(consumer: Consumer, topic: str, partition: int) -> tuple[int, int]:
    """Return the first offset of a partition and the one after its last.

    Raises:
        LogUnavailable: the broker did not answer, or does not know the topic.
    """
    try:
        low, high = consumer.get_watermark_offsets(
            TopicPartition(topic, partition), timeout=_QUERY_S
        )
    except KafkaException as error:
        raise LogUnavailable(f"{topic}[{partition}]: {error.args[0].str()}") from None
    return low, high


def read_to_end(
    bootstrap: str, topic: str, partition: int, *, start: int, client_id: str
) -> Iterator[LogRecord]:
    """Yield every record from ``start`` to the end that the partition has when it is reached.

    Raises:
        LogUnavailable: the broker ceased to answer.
    """
    consumer = new_consumer(bootstrap, client_id=client_id, fetch_wait_ms=_FETCH_WAIT_TO_END_MS)
    try:
        consumer.assign([TopicPartition(topic, partition, start)])
        heard_at = time.monotonic()
        while True:
            messages = consumer.consume(_BATCH, timeout=_POLL_S)
            if messages:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > _SILENCE_MAX_S:
                raise LogUnavailable(f"{topic}[{partition}]: the broker ceased to answer")
            for message in messages:
                error = message.error()
                if error is None:
                    yield log_record(message)
                elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                    return
                else:
                    raise LogUnavailable(f"{topic}[{partition}]: {error.str()}")
    finally:
        consumer.close()


def log_record(message: Message) -> LogRecord:
    """Return a consumed message as a record."""
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None and partition is not None and offset is not None  # noqa: S101, PT018 - librdkafka gives all three for every message without an error
    _, timestamp_ms = message.timestamp()
    value, key = message.value(), message.key()
    return LogRecord(
        position=LogPosition(topic=topic, partition=partition, offset=offset),
        timestamp_ms=timestamp_ms,
        key=_as_bytes(key),
        value=_as_bytes(value),
        headers=headers_of(message.headers()),
    )


def headers_of(raw: object) -> Headers:
    """Return Kafka headers as pairs; a header without a value counts as an empty one."""
    if not isinstance(raw, list):
        return []
    return [(str(name), _as_bytes(value) or b"") for name, value in raw]


def _as_bytes(value: object) -> bytes | None:
    if value is None:
        return None
    return value.encode() if isinstance(value, str) else bytes(value)  # type: ignore[call-overload]
