"""The lease under which keys are served from memory.

Keys are cached in a bounded least-recently-used map. What is leased is not each key but the feed of
destructions and pauses: one query reads those after the last one seen, and if it succeeds,
everything cached, less what the feed names, may be served until a lease after the query *began*. So
no key is served later than a lease after its destruction was committed, no paused user is taken for
one who goes on later than that, and a keyring that cannot be reached serves nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from schemas.keyring.records import Erased, Feed, SubjectKeys

User: TypeAlias = tuple[str, str]
"""A tenant's name and a user id."""

# Larger than any number of the feed: reading after it returns no entry, only the last number.
_NOTHING_SEEN: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class _Entry:
    state: SubjectKeys | Erased
    user: User | None


class LeasedCache:
    """Subjects' keys and states, served while the feed was read recently.

    Args:
        read_feed: reads the entries of the feed after a number.
        lease_seconds: how long one reading of the feed is good for.
        capacity: entries at most.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        read_feed: Callable[[int], Awaitable[Feed]],
        *,
        lease_seconds: float,
        capacity: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._read_feed = read_feed
        self._lease_seconds = lease_seconds
        self._capacity = capacity
        self._clock = clock
        self._valid_until = clock()
        self._last_seen = _NOTHING_SEEN
        self._renewal: asyncio.Task[None] | None = None
        self._entries: OrderedDict[UUID, _Entry] = OrderedDict()
        self._users: dict[User, UUID] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def valid(self) -> bool:
        """Whether entries may be served now."""
        return self._clock() < self._valid_until

    def subject(self, subject: UUID) -> SubjectKeys | Erased | None:
        """Return what is cached of a subject. To be served only while ``valid``."""
        entry = self._entries.get(subject)
        if entry is None:
            return None
        self._entries.move_to_end(subject)
        return entry.state

    def user(self, user: User) -> SubjectKeys | None:
        """Return the cached keys of a user's living subject. To be served only while ``valid``."""
        subject = self._users.get(user)
        if subject is None:
            return None
        state = self.subject(subject)
        return state if isinstance(state, SubjectKeys) else None

    def put(self, state: SubjectKeys | Erased, *, head: int, user: User | None = None) -> None:
        """Remember what a statement found.

        Args:
            state: what it found of a subject.
            head: the last entry of the feed that the same statement could see. If the feed was
                read beyond it meanwhile, an entry may have been missed: nothing is remembered.
            user: whose subject it is, where it was looked up by the user.
        """
        if head < self._last_seen:
            return
        known = self._entries.get(state.subject)
        if user is None and known is not None:
            user = known.user
        self.evict(state.subject)
        if isinstance(state, Erased):
            user = None  # a user id outlives its subject nowhere
        self._entries[state.subject] = _Entry(state, user)
        if user is not None:
            self._users[user] = state.subject
        while len(self._entries) > self._capacity:
            self.evict(next(iter(self._entries)))

    def evict(self, subject: UUID) -> None:
        """Forget what is cached of a subject."""
        entry = self._entries.pop(subject, None)
        if entry is not None and entry.user is not None and self._users.get(entry.user) == subject:
            del self._users[entry.user]

    def renew(self) -> asyncio.Task[None] | None:
        """Begin to read the feed, unless the lease is valid; all callers share one reading."""
        if self.valid:
            return None
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._read())
            # A failure nobody waits for any more is not the event loop's business: the lease is
            # simply not renewed.
            self._renewal.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._renewal

    async def hold(self) -> bool:
        """Renew the lease if need be and return whether entries may be served now.

        It may not be so although the feed was read, where reading it took longer than a lease.

        Raises:
            KeyringUnavailable: the feed cannot be read.
        """
        renewal = self.renew()
        if renewal is not None:
            # Shielded: a caller that gives up must not fail the others.
            await asyncio.shield(renewal)
        return self.valid

    async def settle(self) -> None:
        """Wait until no reading of the feed is under way."""
        if self._renewal is not None:
            await asyncio.wait([self._renewal])

    async def _read(self) -> None:
        began = self._clock()
        feed = await self._read_feed(self._last_seen)
        if feed.head < self._last_seen:
            # Nothing was seen yet, or the database was restored to an earlier state.
            self._entries.clear()
            self._users.clear()
        for entry in feed.entries:
            self.evict(entry.subject)
        self._last_seen = feed.head
        self._valid_until = began + self._lease_seconds
