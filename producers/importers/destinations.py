"""Where an import goes: into the ledger, or nowhere, to see what would be added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias
from uuid import UUID

from producers.append import TurnIdentity
from producers.ports import Appender, KnownTurns, SubjectDirectory
from producers.subject_records import Appended, AppendResult, Withheld
from producers.turns_input import TurnInput
from schemas.errors import InvalidInput, LogUnavailable
from schemas.ids import turn_id as derived_turn_id
from schemas.records import Origin
from schemas.withholding import WithheldReason

Unappended: TypeAlias = InvalidInput | LogUnavailable | WithheldReason
"""Why a turn was not appended."""


class Destination(Protocol):
    """Where the turns of an import go."""

    async def held(self, tenant: str, turns: Sequence[TurnInput]) -> list[bool]:
        """Return, for each turn, whether the ledger holds it already.

        Raises:
            UnknownTenant: no such tenant.
            KeyringUnavailable, ReadModelUnavailable: they cannot be asked.
        """
        ...

    async def append(self, tenant: str, turns: Sequence[TurnInput]) -> list[Unappended | None]:
        """Append turns; return, for each, why it was not, or ``None``.

        Raises:
            KeyringUnavailable: it cannot be asked.
        """
        ...


FIRST_APPENDED_MAX: Final = 200


class Ledger:
    """Appends what the ledger does not hold.

    Attributes:
        first_appended: subject and turn of the first that were appended.
    """

    def __init__(self, appender: Appender, known: KnownTurns) -> None:
        self.first_appended: list[tuple[UUID, UUID]] = []
        self._appender = appender
        self._known = known
        self._subjects: dict[str, UUID] = {}

    async def held(self, tenant: str, turns: Sequence[TurnInput]) -> list[bool]:
        """Return, for each turn, whether it was projected already."""
        identities = await self._appender.identify(tenant, turns)
        self._subjects = {
            turn.user_id: identity.subject for turn, identity in zip(turns, identities, strict=True)
        }
        return await _projected(self._known, identities)

    async def append(self, tenant: str, turns: Sequence[TurnInput]) -> list[Unappended | None]:
        """Append turns."""
        results = await self._appender.append(tenant, turns, Origin.IMPORT)
        for turn, result in zip(turns, results, strict=True):
            if len(self.first_appended) < FIRST_APPENDED_MAX and isinstance(result, Appended):
                self.first_appended.append((self._subjects[turn.user_id], result.turn_id))
        return [_why_not(result) for result in results]


class DryRun:
    """Appends nothing, and makes no user and no key."""

    def __init__(self, keyring: SubjectDirectory, known: KnownTurns) -> None:
        self._keyring = keyring
        self._known = known
        self._paused: set[str] = set()

    async def held(self, tenant: str, turns: Sequence[TurnInput]) -> list[bool]:
        """Return, for each turn, whether it was projected already; a new user has none."""
        users = list(dict.fromkeys(turn.user_id for turn in turns))
        keys = await self._keyring.subjects_for(tenant, users, create=False)
        self._paused = {user for user, found in keys.items() if found.paused}
        identities = [
            TurnIdentity(
                subject=found.subject, turn_id=derived_turn_id(found.id_secret, turn.turn_id)
            )
            if (found := keys.get(turn.user_id)) is not None
            else None
            for turn in turns
        ]
        return await _projected(self._known, identities)

    async def append(
        self,
        tenant: str,  # noqa: ARG002 - the protocol's
        turns: Sequence[TurnInput],
    ) -> list[Unappended | None]:
        """Append nothing; tell whose turns would be withheld."""
        return [WithheldReason.PAUSED if turn.user_id in self._paused else None for turn in turns]


class Nowhere:
    """A dry run that asks no ledger, so that every turn counts as new."""

    async def held(
        self,
        tenant: str,  # noqa: ARG002 - the protocol's
        turns: Sequence[TurnInput],
    ) -> list[bool]:
        """Return that nothing is there."""
        return [False] * len(turns)

    async def append(
        self,
        tenant: str,  # noqa: ARG002 - the protocol's
        turns: Sequence[TurnInput],
    ) -> list[Unappended | None]:
        """Append nothing, and find fault with nothing."""
        return [None] * len(turns)


def _why_not(result: AppendResult) -> Unappended | None:
    if isinstance(result, Appended):
        return None
    return result.reason if isinstance(result, Withheld) else result.error


async def _projected(known: KnownTurns, identities: Sequence[TurnIdentity | None]) -> list[bool]:
    turns_of: dict[UUID, list[UUID]] = {}
    for identity in identities:
        if identity is not None:
            turns_of.setdefault(identity.subject, []).append(identity.turn_id)
    held = await known.known_turns(turns_of) if turns_of else set()
    return [
        identity is not None and (identity.subject, identity.turn_id) in held
        for identity in identities
    ]
