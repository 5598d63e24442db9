"""``memledger page-link`` prints a link that opens one user's page until it ends."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main, page_link
from schemas.errors import UnknownTenant
from schemas.keyring.signing import SigningKeys
from schemas.settings import Settings
from schemas.user_tokens import Audience, UserToken, UserTokens

URL = "https://memory.example/ml"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    async def known(_settings: Settings, tenant: str, _user_id: str) -> None:
        if tenant != "local":
            raise UnknownTenant(f"no tenant {tenant!r}")

    (tmp_path / "keys").mkdir()
    monkeypatch.setattr(page_link, "_require_tenant", known)
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMLEDGER_KEY_DIRECTORY", str(tmp_path / "keys"))
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["page-link", *arguments])


def holder(link: str, home: Path) -> UserToken:
    """Return whose page a link opens, by the token that it carries."""
    address, _, token = link.strip().partition("#token=")
    assert address == f"{URL}/memory"
    return UserTokens(SigningKeys(home / "keys")).verify(token, Audience.PAGE)


def test_a_link_opens_the_page_of_one_user_for_a_quarter_of_an_hour(home: Path) -> None:
    ran = run("--user", "jose\u0301", "--url", URL)
    assert ran.exit_code == 0, ran.stderr
    said = holder(ran.stdout, home)
    assert (said.tenant, said.user_id) == ("local", "jos\u00e9")
    assert said.expires_at - said.issued_at == timedelta(minutes=15)
    assert ran.stderr == ""


def test_how_long_it_is_good_can_be_told_and_is_printed(home: Path) -> None:
    ran = run("--user", "ann", "--url", f"{URL}/", "--minutes", "60", "--json")
    printed = json.loads(ran.stdout)
    said = holder(printed["link"], home)
    assert printed["user"] == "ann"
    assert datetime.fromisoformat(printed["expires_at"]) == said.expires_at
    assert timedelta(minutes=59) < said.expires_at - datetime.now(UTC) <= timedelta(minutes=60)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--user", "ann", "--minutes", "1441", "--url", URL), "minutes"),
        (("--user", "ann", "--minutes", "0", "--url", URL), "minutes"),
        (("--user", " ", "--url", URL), "--user"),
        (("--user", "ann", "--tenant", "acme", "--url", URL), "no tenant 'acme'"),
        (("--user", "ann"), "--url"),
    ],
    ids=["too long", "no time", "blank", "no such tenant", "no gateway"],
)
def test_what_cannot_be_is_unusable_input(arguments: tuple[str, ...], told: str) -> None:
    ran = run(*arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert told in ran.stderr
