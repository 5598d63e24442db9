"""Errors that cross a package's border.

The hierarchy::

    MemledgerError
    ├── InvalidInput              what a caller sent is refused; names field and remedy
    │   └── InputTooLarge         ... because it is above a documented limit
    ├── GatewayBusy               more requests are held than there is room for: try again later
    ├── ConfigurationError        the process cannot start as configured
    │   └── MigrationError        a database's schema is not the one this version was made for
    ├── UnknownTenant             no such tenant
    ├── UnknownFlag               the tenant has no such flag
    ├── UnknownTurn               the user has no such turn
    ├── UnknownMemory             the user has no such memory
    ├── UnknownRecall             nothing is known of such a recall for the user
    ├── UnknownFile               the user has no such file, or no such version of it
    ├── FlagDecided               the flag was decided already, and in another way
    ├── CommandRefused            a command on files is refused; its message is for the model
    ├── RateLimited               the tenant asked more than it may: try again later
    ├── UserPaused                the user has paused memory, so a system's fact is not taken
    ├── InvalidApiKey             the key is missing, malformed, unknown or revoked
    ├── InvalidUserToken          the user token is changed, has ended, or is for another door
    ├── KeyringUnavailable        the keyring cannot be reached; nothing may be concluded from that
    ├── KeyMissing                a key is not there and no destruction of it is recorded: an alarm
    ├── SubjectErased             the destruction of the subject's keys is recorded
    ├── SealBroken                a record's header or payload is not what was sealed
    ├── RecordInvalid             a record opened, but does not fit its schema
    │   └── UnknownSchema         ... since no model is known for its name and version
    ├── LogUnavailable            the broker did not acknowledge
    │   └── LogBusy               ... since the producer's queue is full: try again later
    ├── ReadModelUnavailable      Postgres cannot be reached or refused
    │   └── NotCaughtUp           the awaited position was not projected before the deadline
    │       └── ResultPending     ... nor the result of a command on files
    ├── ExtractionFailed          the extractor gave no usable answer
    │   └── ExtractionRejected    ... and asking again would not help
    ├── ExtractorUnavailable      the extractor cannot be asked: no turn is at fault
    └── EmbeddingFailed           the embedder gave no usable vectors
        ├── EmbedderMismatch      the read model was built with another model or dimension
        └── EmbedderUnavailable   the embedder cannot be asked: no text is at fault
"""

from __future__ import annotations

from schemas.proposals import Usage


class MemledgerError(Exception):
    """The base of every error that memledger raises on purpose."""


class InvalidInput(MemledgerError):
    """What a caller sent cannot be accepted.

    Attributes:
        field: the name of the offending field, as the caller spells it.
        problem: what is wrong with it.
        remedy: what to send instead.
    """

    code = "invalid_input"

    def __init__(self, *, field: str, problem: str, remedy: str) -> None:
        super().__init__(f"{field}: {problem}; {remedy}")
        self.field = field
        self.problem = problem
        self.remedy = remedy


class InputTooLarge(InvalidInput):
    """A field or a request is above a documented limit."""

    code = "too_large"


class GatewayBusy(MemledgerError):
    """The bodies of the requests that are in work fill the room there is: try again later."""


class ConfigurationError(MemledgerError):
    """The process cannot start as it is configured."""


class MigrationError(ConfigurationError):
    """A database's schema is not the one this version was made for."""


class UnknownTenant(MemledgerError):
    """No tenant of that name exists."""


class UnknownFlag(MemledgerError):
    """No user of the tenant has such a flag."""


class UnknownTurn(MemledgerError):
    """The user has no such turn, nor another record of that id."""


class UnknownMemory(MemledgerError):
    """Nothing is stored under such an id of the user."""


class UnknownFile(MemledgerError):
    """The user has no such file, or no such version of it is kept."""


class UnknownRecall(MemledgerError):
    """Nothing is known of such a recall for the user, or no more."""


class FlagDecided(MemledgerError):
    """The flag was decided already, and in another way: the first decision counts."""


class CommandRefused(MemledgerError):
    """A command of the memory tool is refused; the message goes back to the model as it is."""


class RateLimited(MemledgerError):
    """The tenant asked more of this gateway than it may: try again later.

    Attributes:
        retry_after_s: after how many seconds it is worth trying again, whole.
    """

    def __init__(self, message: str, *, retry_after_s: int = 1) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class UserPaused(MemledgerError):
    """The user has paused memory: what an operator's system knows is not taken meanwhile."""


class InvalidApiKey(MemledgerError):
    """The API key is missing, malformed, unknown or revoked."""


class InvalidUserToken(MemledgerError):
    """The user token is malformed, was changed, has ended, or is for another door."""


class KeyringUnavailable(MemledgerError):
    """The keyring cannot be reached. Never to be taken for an erasure."""


class KeyMissing(MemledgerError):
    """A key is not there and no destruction of it is recorded.

    This is an alarm: the keyring was lost or restored from a stale backup. A reader stops here.
    """


class SubjectErased(MemledgerError):
    """The destruction of the subject's keys is recorded."""


class SealBroken(MemledgerError):
    """A record's header or payload is not what was sealed."""


class RecordInvalid(MemledgerError):
    """A record opened, but its payload does not fit its schema."""


class UnknownSchema(RecordInvalid):
    """No model is known for the record's schema name and version."""


class LogUnavailable(MemledgerError):
    """The broker did not acknowledge an append before the deadline."""


class LogBusy(LogUnavailable):
    """The producer's queue is full: the caller must slow down and try again."""


class ReadModelUnavailable(MemledgerError):
    """The read model's database cannot be reached, or refused the statement."""


class NotCaughtUp(ReadModelUnavailable):
    """The awaited position was not projected before the deadline."""


class ResultPending(NotCaughtUp):
    """A command on files stands in the log, and its result was not known before the deadline."""


class ExtractionFailed(MemledgerError):
    """The extractor gave no usable answer; it may be asked again.

    Attributes:
        usage: what asking cost all the same.
        stop_reasons: why the model stopped, call by call, in the provider's words.
    """

    def __init__(
        self, message: str, *, usage: Usage | None = None, stop_reasons: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.usage = Usage() if usage is None else usage
        self.stop_reasons = stop_reasons


class ExtractionRejected(ExtractionFailed):
    """The extractor gave no usable answer, and asking again would not help."""


class ExtractorUnavailable(MemledgerError):
    """The extractor cannot be asked: its provider is away, overloaded, or refuses whatever we send.

    No turn is at fault, so each waits and none is given up.

    Attributes:
        retry_after_s: how long to leave it alone, in seconds, where that is known.
        usage: what asking cost all the same.
    """

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, usage: Usage | None = None
    ) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.usage = Usage() if usage is None else usage


class EmbeddingFailed(MemledgerError):
    """The embedder gave no usable vectors."""

    code = "embedding_failed"


class EmbedderMismatch(EmbeddingFailed):
    """The read model was built with an embedder of another name, dimension or model."""

    code = "embedder_mismatch"


class EmbedderUnavailable(EmbeddingFailed):
    """The embedder cannot be asked, or not in time: no text is at fault.

    Attributes:
        retry_after_s: how long it asks to be left alone, in seconds, if it does.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
