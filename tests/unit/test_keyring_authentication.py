"""A key that is not there costs what a wrong secret costs: the same questions and comparisons."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest

from schemas.errors import InvalidApiKey
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.authentication import UNKNOWN_KEPT_MAX, Authenticator
from schemas.keyring.store import KeyringStore


@dataclass
class _Store:
    """Holds keys, and counts how often it is asked."""

    keys: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def api_key(self, key_id: str) -> tuple[bytes, str] | None:
        self.asked.append(key_id)
        return self.keys.get(key_id)


class _Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class _Door:
    """An authenticator with one valid key, and what it did."""

    store: _Store = field(default_factory=_Store)
    clock: _Clock = field(default_factory=_Clock)
    valid: ApiKey = field(default_factory=ApiKey.new)
    compared: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store.keys[self.valid.key_id] = (self.valid.digest, "acme")
        self.authenticator = Authenticator(
            cast("KeyringStore", self.store), lease_seconds=0.5, clock=self.clock
        )

    def refused(self, key: ApiKey) -> tuple[list[str], list[int], str]:
        """Show a key that is refused; return what it cost and what was said."""
        self.store.asked.clear()
        self.compared.clear()
        with pytest.raises(InvalidApiKey) as caught:
            asyncio.run(self.authenticator.authenticate(key.token))
        return list(self.store.asked), list(self.compared), str(caught.value)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> _Door:
    door = _Door()
    matches = ApiKey.matches

    def counting(self: ApiKey, digest: bytes) -> bool:
        door.compared.append(len(digest))
        return matches(self, digest)

    monkeypatch.setattr(ApiKey, "matches", counting)
    return door


def test_an_unknown_key_and_a_wrong_secret_take_the_same_path(door: _Door) -> None:
    wrong_secret = ApiKey(key_id=door.valid.key_id, secret="0" * 64)
    unknown = ApiKey.new()
    for _ in range(3):  # looked up, and remembered for the lease, in the same way
        asked_wrong, compared_wrong, said_wrong = door.refused(wrong_secret)
        asked_unknown, compared_unknown, said_unknown = door.refused(unknown)
        assert (len(asked_wrong), compared_wrong) == (len(asked_unknown), compared_unknown)
        assert compared_wrong == [32]
        assert said_wrong == said_unknown
        assert asked_wrong in ([wrong_secret.key_id], [])


def test_nobody_is_asked_twice_within_a_lease_and_everybody_after_it(door: _Door) -> None:
    wrong_secret, unknown = ApiKey(key_id=door.valid.key_id, secret="0" * 64), ApiKey.new()
    for key in (wrong_secret, unknown):
        assert [len(door.refused(key)[0]) for _ in range(3)] == [1, 0, 0]
    door.clock.now += 0.5
    for key in (wrong_secret, unknown):
        assert len(door.refused(key)[0]) == 1


def test_a_key_that_is_made_after_it_was_asked_for_is_good_after_a_lease(door: _Door) -> None:
    late = ApiKey.new()
    door.refused(late)
    door.store.keys[late.key_id] = (late.digest, "acme")
    door.clock.now += 0.5
    assert asyncio.run(door.authenticator.authenticate(late.token)) == "acme"


def test_a_flood_of_keys_that_there_are_not_takes_no_room(door: _Door) -> None:
    for _ in range(UNKNOWN_KEPT_MAX + 50):
        door.refused(ApiKey.new())
    assert len(door.authenticator._unknown) == UNKNOWN_KEPT_MAX
    assert asyncio.run(door.authenticator.authenticate(door.valid.token)) == "acme"


def test_the_tenant_of_a_key_id_is_told_while_the_key_is_valid(door: _Door) -> None:
    def tenant(key_id: str) -> str | None:
        return asyncio.run(door.authenticator.tenant_of(key_id))

    assert tenant(door.valid.key_id) == "acme"
    assert tenant("0" * 16) is None
    del door.store.keys[door.valid.key_id]
    assert tenant(door.valid.key_id) == "acme"  # for a lease
    door.clock.now += 0.5
    assert tenant(door.valid.key_id) is None
