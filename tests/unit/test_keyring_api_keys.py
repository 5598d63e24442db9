from __future__ import annotations

import pytest

from schemas.errors import InvalidApiKey
from schemas.keyring.api_keys import ApiKey


def test_token_reads_back_as_the_key_it_spells() -> None:
    key = ApiKey.new()
    assert ApiKey.parse(key.token) == key
    assert key.token == f"mlk_{key.key_id}_{key.secret}"


def test_keys_are_never_the_same() -> None:
    assert len({ApiKey.new().token for _ in range(100)}) == 100


def test_digest_matches_only_its_own_secret() -> None:
    key, other = ApiKey.new(), ApiKey.new()
    assert key.matches(key.digest)
    assert not key.matches(other.digest)
    assert not key.matches(b"")
    assert key.secret.encode() not in key.digest


def test_secret_shows_in_no_representation() -> None:
    key = ApiKey.new()
    assert key.secret not in repr(key)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "mlk_",
        "mlk__",
        "Bearer mlk_0123456789abcdef_" + "0" * 64,
        "mlk_0123456789abcdef_" + "0" * 63,
        "mlk_0123456789abcdef_" + "0" * 65,
        "mlk_0123456789ABCDEF_" + "0" * 64,
        "mlk_0123456789abcdef_" + "0" * 64 + "\n",
        "mlk_0123456789abcde\0_" + "0" * 64,
        "mlk_0123456789abcdef_" + "\u0660" * 64,
    ],
)
def test_token_that_spells_no_key_is_invalid_and_not_repeated(token: str) -> None:
    with pytest.raises(InvalidApiKey, match="looks like mlk_") as caught:
        ApiKey.parse(token)
    assert "0" * 32 not in str(caught.value)


def test_a_user_token_in_place_of_a_key_is_told_apart() -> None:
    with pytest.raises(InvalidApiKey, match="a user token opens only"):
        ApiKey.parse("mlu_abc.def")
