"""``memledger profile`` shows the block, what it costs, and what was left out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.cli import profile as verb
from deploy.cli.one_user import OneUser
from projections.profile import Profile, Profiles, ProfileSection
from projections.recalled import TokenUse
from schemas.injection import InjectionForm
from schemas.settings import Settings

BLOCK = "<memledger-notes>\n- 2026-03-01: Lives in Pune\n</memledger-notes>"


def run(monkeypatch: pytest.MonkeyPatch, *options: str, block: str = BLOCK) -> Result:
    """Run the verb where that is the profile."""

    async def asked(tenant: str, user: str, form: InjectionForm) -> Profile:
        assert (tenant, user) == ("local", "ann")
        return Profile(
            memories=(),
            left_out={**dict.fromkeys(ProfileSection, 0), ProfileSection.RULES: 3},
            digest="0123456789abcdef" * 4,
            tokens=TokenUse(used=96, budget=1_499, counter="estimate", exact=False),
            generation="g1",
            block=block if form is InjectionForm.TEXT else f"{block} as xml",
        )

    monkeypatch.setattr(verb, "_asked", asked)
    return CliRunner().invoke(main, ["profile", "--user", "ann", *options])


def test_it_shows_the_block_what_it_costs_and_what_was_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran = run(monkeypatch)

    assert ran.exit_code == 0
    assert ran.stdout.startswith(BLOCK)
    assert "96 of 1499 tokens, by an estimate; digest 0123456789abcdef\n" in ran.stdout
    assert "left out, for lack of room: 3 rules" in ran.stdout
    assert "as xml" in run(monkeypatch, "--format", "xml").stdout
    assert "nothing stands for this user" in run(monkeypatch, block="").stdout


def test_json_tells_all_that_the_api_does(monkeypatch: pytest.MonkeyPatch) -> None:
    document = json.loads(run(monkeypatch, "--json").stdout)

    assert (document["user"], document["profile"], document["format"]) == ("ann", BLOCK, "text")
    assert document["left_out"]["rules"] == 3
    assert "block" not in document


def test_a_form_that_is_a_message_is_unusable_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "--format", "anthropic").exit_code == 2


@pytest.mark.parametrize("paused", [True, False])
def test_that_the_user_has_paused_memory_is_told_beside_the_block(
    monkeypatch: pytest.MonkeyPatch, *, paused: bool
) -> None:
    @asynccontextmanager
    async def opened(*_: str) -> AsyncIterator[OneUser]:
        stores = {name: cast("Any", None) for name in ("embedder", "keyring", "read_model")}
        yield OneUser(settings=Settings(), subject=None, paused=paused, **stores)

    async def nothing(*_: object) -> Profile:
        return Profile(
            memories=(),
            left_out={},
            digest="0" * 64,
            tokens=TokenUse(used=0, budget=1_499, counter="estimate", exact=False),
            generation="g1",
            block="",
        )

    monkeypatch.setattr(verb, "one_user", opened)
    monkeypatch.setattr(Profiles, "profile", nothing)
    ran = CliRunner().invoke(main, ["profile", "--user", "ann"])
    assert ran.exit_code == 0, ran.stderr
    assert ("has paused memory" in ran.stderr) is paused
