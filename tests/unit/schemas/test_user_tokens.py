"""A user token tells whose it is, to one door, for a while; whatever is changed in it ends it."""

from __future__ import annotations

import base64
import hmac
import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.errors import InvalidInput, InvalidUserToken, KeyMissing
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.signing import SigningKeys
from schemas.user_tokens import (
    LIFETIME_DEFAULT_S,
    LIFETIME_MAX_S,
    SKEW_S,
    TOKEN_CHARACTERS_MAX,
    Audience,
    UserToken,
    UserTokens,
)

NOW = 1_800_000_000
URL_SAFE = string.ascii_letters + string.digits + "-_"


class _Keys:
    """Keys of a test, by number."""

    def __init__(self, *keys: bytes) -> None:
        self.keys = dict(enumerate(keys or (b"k" * 32,), start=1))
        self.asked: list[int] = []

    def newest(self) -> tuple[int, bytes]:
        number = max(self.keys)
        return number, self.keys[number]

    def numbered(self, number: int) -> bytes | None:
        self.asked.append(number)
        return self.keys.get(number)


class _Clock:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


def tokens(keys: _Keys | None = None, clock: Callable[[], float] | None = None) -> UserTokens:
    return UserTokens(keys or _Keys(), clock=clock or _Clock())


def minted(maker: UserTokens, **changed: Any) -> str:
    wanted: dict[str, Any] = {
        "tenant": "acme",
        "user_id": "ann",
        "audience": Audience.MCP,
        "api_key_id": "0123456789abcdef",
        **changed,
    }
    token, _ = maker.mint(**wanted)
    return token


CLAIMS = {"kid": 1, "aud": "mcp", "tenant": "a", "sub": "b", "azp": None, "iat": 1, "exp": NOW * 2}

USERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=512)


@given(tenant=USERS, user=USERS, audience=st.sampled_from(Audience))
@example(tenant="\U0001f600" * 200, user='"' * 512, audience=Audience.PAGE)
@example(tenant="acme", user="\x1f" * 512, audience=Audience.PAGE)
def test_a_token_tells_what_it_was_made_of(tenant: str, user: str, audience: Audience) -> None:
    maker = tokens()
    token, said = maker.mint(tenant=tenant, user_id=user, audience=audience, api_key_id=None)
    assert len(token) <= TOKEN_CHARACTERS_MAX
    assert maker.verify(token, audience) == said
    assert (said.tenant, said.user_id, said.api_key_id) == (tenant, user, None)
    assert (said.expires_at - said.issued_at).total_seconds() == LIFETIME_DEFAULT_S


@given(data=st.data())
def test_any_changed_character_is_refused(data: st.DataObject) -> None:
    maker = tokens()
    token = minted(maker, user_id=data.draw(st.sampled_from(["ann", "anna", "annab", "安"])))
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(
        st.sampled_from(URL_SAFE + ".=+/ \n\0é").filter(lambda it: it != token[place])
    )
    with pytest.raises(InvalidUserToken):
        maker.verify(token[:place] + other + token[place + 1 :], Audience.MCP)


def test_a_signature_has_one_spelling() -> None:
    """The last character of 32 bytes in base64 has two bits that count for nothing."""
    maker = tokens()
    token = minted(maker)
    for other in set(URL_SAFE) - {token[-1]}:
        with pytest.raises(InvalidUserToken):
            maker.verify(token[:-1] + other, Audience.MCP)


@given(data=st.data())
def test_any_changed_byte_is_refused(data: st.DataObject) -> None:
    """What base64 spells is changed, and spelled well again: the signature itself must notice."""
    maker = tokens()
    claims, signature = minted(maker).removeprefix("mlu_").split(".")
    parts = [_bytes(claims), _bytes(signature)]
    which = data.draw(st.integers(0, 1))
    place = data.draw(st.integers(0, len(parts[which]) - 1))
    changed = bytearray(parts[which])
    changed[place] ^= data.draw(st.integers(1, 255))
    parts[which] = bytes(changed)
    with pytest.raises(InvalidUserToken):
        maker.verify("mlu_" + ".".join(map(_text, parts)), Audience.MCP)


@given(cut=st.integers(0, 400), more=st.text(max_size=5))
def test_what_is_cut_or_has_more_behind_it_is_refused(cut: int, more: str) -> None:
    maker = tokens()
    token = minted(maker)
    changed = token[: len(token) - cut] + more
    if changed != token:
        with pytest.raises(InvalidUserToken):
            maker.verify(changed, Audience.MCP)


@given(st.text() | st.text(URL_SAFE + ".").map("mlu_".__add__))
def test_whatever_is_sent_in_place_of_a_token_is_refused_and_not_repeated(sent: str) -> None:
    with pytest.raises(InvalidUserToken) as caught:
        tokens().verify(sent, Audience.MCP)
    assert len(sent) < 12 or sent not in str(caught.value)


@pytest.mark.parametrize(
    "claims",
    [
        {},
        [],
        {"kid": 1, "aud": "mcp", "tenant": "acme", "sub": "ann", "azp": None, "iat": NOW},
        {**CLAIMS, "kid": "1"},
        {**CLAIMS, "scope": "all"},
    ],
    ids=["empty", "no object", "no end", "number as text", "more than is known"],
)
def test_claims_of_another_shape_are_refused_though_signed(claims: object) -> None:
    signed = "mlu_" + _text(json.dumps(claims).encode())
    signature = hmac.digest(b"k" * 32, b"memledger user token\0" + signed.encode(), "sha256")
    with pytest.raises(InvalidUserToken):
        tokens().verify(f"{signed}.{_text(signature)}", Audience.MCP)


def test_a_token_opens_only_the_door_that_it_is_for() -> None:
    maker = tokens()
    for audience in Audience:
        token = minted(maker, audience=audience)
        for door in Audience:
            if door is audience:
                assert maker.verify(token, door).audience is door
            else:
                with pytest.raises(InvalidUserToken, match="not for this door"):
                    maker.verify(token, door)


def test_a_token_ends_and_clocks_may_differ_a_little() -> None:
    clock = _Clock()
    maker = tokens(clock=clock)
    token = minted(maker, lifetime_s=60)
    for good in (NOW, NOW + 59, NOW + 60 + SKEW_S - 1, NOW - SKEW_S):
        clock.now = good
        assert maker.verify(token, Audience.MCP).user_id == "ann"
    clock.now = NOW + 60 + SKEW_S
    with pytest.raises(InvalidUserToken, match="expired"):
        maker.verify(token, Audience.MCP)
    clock.now = NOW - SKEW_S - 1
    with pytest.raises(InvalidUserToken, match="in the future"):
        maker.verify(token, Audience.MCP)


@pytest.mark.parametrize("lifetime_s", [-1, 0, LIFETIME_MAX_S + 1])
def test_no_token_lives_longer_than_a_day_or_not_at_all(lifetime_s: int) -> None:
    with pytest.raises(InvalidInput, match="lifetime_s"):
        minted(tokens(), lifetime_s=lifetime_s)
    assert minted(tokens(), lifetime_s=LIFETIME_MAX_S)


def test_nothing_of_a_token_is_told_before_its_signature_is_right() -> None:
    """One that has ended and is for another door is refused for its signature alone."""
    clock = _Clock()
    forged = minted(tokens(_Keys(b"f" * 32), clock), audience=Audience.PAGE, lifetime_s=1)
    clock.now = NOW + 3600
    with pytest.raises(InvalidUserToken, match="not one that was made here"):
        tokens(clock=clock).verify(forged, Audience.MCP)


def test_a_wrong_signature_and_a_key_that_is_not_there_cost_the_same_comparison(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def counting(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr("schemas.user_tokens.hmac.compare_digest", counting)
    good = minted(tokens())
    last = "A" if good[-5] != "A" else "B"
    unknown_key = minted(tokens(_Keys(b"k" * 32, b"k" * 32)))
    no_claims = "mlu_" + _text(b"nothing") + "." + good.partition(".")[2]
    for token in (good[:-5] + last + good[-4:], unknown_key, no_claims):
        compared.clear()
        with pytest.raises(InvalidUserToken, match="not one that was made here"):
            tokens().verify(token, Audience.MCP)
        assert compared == [(32, 32)]


def test_the_newest_key_signs_and_an_older_one_verifies_until_it_is_removed() -> None:
    keys = _Keys(b"a" * 32)
    maker = tokens(keys)
    old = minted(maker)
    keys.keys[2] = b"b" * 32
    new = minted(maker)
    assert json.loads(_bytes(new[4:].partition(".")[0]))["kid"] == 2
    assert isinstance(maker.verify(old, Audience.MCP), UserToken)
    del keys.keys[1]
    assert isinstance(maker.verify(new, Audience.MCP), UserToken)
    with pytest.raises(InvalidUserToken, match="signing key is gone"):
        maker.verify(old, Audience.MCP)


class TestSigningKeys:
    def test_the_first_is_made_when_it_is_needed_and_is_found_by_every_process(
        self, tmp_path: Path
    ) -> None:
        one, other = SigningKeys(tmp_path), SigningKeys(tmp_path)
        number, key = one.newest()
        assert (number, len(key)) == (1, 32)
        assert other.newest() == (1, key)
        assert (tmp_path / "user-tokens-0001.key").stat().st_mode & 0o777 == 0o600

    def test_a_rotation_arrives_after_a_while_and_at_once_where_it_was_made(
        self, tmp_path: Path
    ) -> None:
        clock = _Clock()
        one = SigningKeys(tmp_path, clock=clock)
        other = SigningKeys(tmp_path, clock=clock)
        first = one.newest()
        assert other.newest() == first
        assert one.rotate() == 2
        second = one.newest()
        assert second[0] == 2
        assert second[1] != first[1] == one.numbered(1)
        assert other.newest() == first
        clock.now += 5
        assert other.newest() == second

    def test_a_removed_key_is_gone_after_a_while(self, tmp_path: Path) -> None:
        clock = _Clock()
        keys = SigningKeys(tmp_path, clock=clock)
        keys.newest()
        keys.rotate()
        (tmp_path / "user-tokens-0001.key").unlink()
        clock.now += 5
        assert keys.numbered(1) is None
        assert keys.newest()[0] == 2

    def test_older_keys_are_removed_and_the_newest_is_left(self, tmp_path: Path) -> None:
        keys = SigningKeys(tmp_path)
        keys.newest()
        keys.rotate()
        assert keys.remove_before(keys.rotate()) == [1, 2]
        assert (keys.newest()[0], keys.numbered(2)) == (3, None)

    def test_a_broken_key_and_a_directory_that_is_not_there_are_told(self, tmp_path: Path) -> None:
        with pytest.raises(KeyMissing, match="cannot be read"):
            SigningKeys(tmp_path / "none").newest()
        (tmp_path / "user-tokens-0001.key").write_bytes(b"short")
        with pytest.raises(KeyMissing, match="holds 5 bytes"):
            SigningKeys(tmp_path).newest()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_an_api_key_in_place_of_a_token_is_told_apart() -> None:
    with pytest.raises(InvalidUserToken, match="an API key opens nothing here"):
        tokens().verify(ApiKey.new().token, Audience.PAGE)
