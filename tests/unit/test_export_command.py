"""``memledger export`` writes the whole document or nothing, and nothing over what is there."""

from __future__ import annotations

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from deploy.cli import exporting, main
from projections.export import Export, Exported
from tests.unit.projections.listed import Listed, version
from tests.unit.projections.test_export import _Failing, export_of

SUBJECT = UUID(int=7)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the stores hold: a subject, and its memories."""
    held = SimpleNamespace(subject=SUBJECT, memories=Listed(version(1, "Likes tea")), asked=[])

    @asynccontextmanager
    async def one_user(tenant: str, user: str) -> AsyncIterator[SimpleNamespace]:
        assert (tenant, user) == ("acme", "ann")
        yield SimpleNamespace(subject=held.subject, read_model=None)

    def of(read_model: None) -> Export:
        assert read_model is None
        return export_of(held.memories, page_size=2)

    begin = Export.begin

    async def noted(self: Export, whose: Exported) -> AsyncIterator[bytes]:
        held.asked.append(whose)
        return await begin(self, whose)

    monkeypatch.setattr(exporting, "one_user", one_user)
    monkeypatch.setattr(Export, "of", of)
    monkeypatch.setattr(Export, "begin", noted)
    return held


def run(*options: str) -> Result:
    arguments = ["export", "--user", "ann", "--tenant", "acme", *options]
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_it_is_one_document_on_standard_output(
    kept: SimpleNamespace, options: tuple[str, ...]
) -> None:
    ran = run(*options)
    assert (ran.exit_code, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    assert document["complete"] is True
    assert [memory["content"] for memory in document["memories"]] == ["Likes tea"]
    assert kept.asked == [Exported(tenant="acme", user_id="ann", subject=SUBJECT)]


@pytest.mark.usefixtures("kept")
def test_a_file_is_its_owners_alone_and_nothing_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "ann.json"
    ran = run("--output", str(file), "--json")
    assert ran.exit_code == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told == {"user": "ann", "file": str(file), "bytes": file.stat().st_size}
    assert json.loads(file.read_text("utf-8"))["complete"] is True
    assert stat.S_IMODE(file.stat().st_mode) == 0o600

    file.write_text("mine")
    refused = run("--output", str(file))
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
    assert file.read_text() == "mine"

    forced = run("--output", str(file), "--force")
    assert forced.exit_code == 0
    assert forced.stdout.endswith(f"written to {file}\n")
    assert json.loads(file.read_text("utf-8"))["complete"] is True
    assert list(tmp_path.iterdir()) == [file]


def test_one_that_breaks_off_leaves_what_was_there(kept: SimpleNamespace, tmp_path: Path) -> None:
    file = tmp_path / "ann.json"
    for before in (None, "mine"):
        kept.memories = _Failing(2)
        if before is not None:
            file.write_text(before)
        ran = run("--output", str(file), "--force")
        assert (ran.exit_code, ran.stdout) == (1, "")
        assert "it is away" in ran.stderr
        assert [one.read_text() for one in tmp_path.iterdir()] == (
            [] if before is None else ["mine"]
        )
    kept.memories = _Failing(2)
    ran = run()
    assert ran.exit_code == 1
    with pytest.raises(json.JSONDecodeError):
        json.loads(ran.stdout)


def test_a_user_of_whom_nothing_was_heard_is_noted_and_the_document_empty(
    kept: SimpleNamespace,
) -> None:
    kept.subject, kept.memories = None, Listed()
    ran = run()
    assert ran.exit_code == 0
    assert json.loads(ran.stdout)["counts"]["memories"] == 0
    assert "ids are matched exactly" in ran.stderr


@pytest.mark.usefixtures("kept")
def test_force_without_a_file_is_unusable_input(tmp_path: Path) -> None:
    assert run("--force").exit_code == 2
    missing = run("--output", str(tmp_path / "none" / "ann.json"))
    assert (missing.exit_code, missing.stdout) == (1, "")
