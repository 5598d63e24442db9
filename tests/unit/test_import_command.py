"""``memledger import`` where no pipeline runs, and what it prints."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from click.testing import CliRunner, Result

from deploy.cli import import_hints, importing, main
from deploy.cli.import_files import GivenFile
from deploy.cli.import_hints import hint_for
from producers.importers.formats import IMPORTERS
from producers.importers.left_out import LeftOut
from producers.importers.report import CONVERSATIONS_KEPT_MAX, ImportProgress
from schemas.records import Closing
from tests.support.documents import ROOT, Page, code_of, codes_of
from tests.unit.producers.importers.files import FILES, zipped

LINE = {"user_id": "ann", "conversation_id": "c", "user_text": "hello"}


@pytest.fixture(autouse=True)
def nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DATABASE_URL", "KAFKA_BOOTSTRAP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["import", *arguments])


def lines_in(path: Path, *lines: object) -> str:
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return str(path)


def test_a_dry_run_needs_no_pipeline_and_makes_nothing(tmp_path: Path) -> None:
    file = lines_in(tmp_path / "turns", LINE, {**LINE, "user_id": "ben"})
    ran = run(file, "--dry-run", "--json")
    assert ran.exit_code == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["dry_run"], told["ledger_asked"], told["accepted"]) == (True, False, 2)
    assert [row["user_id"] for row in told["conversations"]] == ["ann", "ben"]
    assert not (tmp_path / "home").exists()


def test_an_import_needs_one(tmp_path: Path) -> None:
    ran = run(lines_in(tmp_path / "turns", LINE))
    assert ran.exit_code == 2
    assert "start it with `memledger up" in ran.stderr
    assert ran.stderr.startswith("memledger: "), "an empty line where no bar is shown"


def test_a_dry_run_for_people_names_users_and_lines(tmp_path: Path) -> None:
    file = lines_in(tmp_path / "turns", LINE, {**LINE, "user_text": " "}, "text")
    ran = run(file, "--dry-run")
    assert ran.exit_code == 1
    assert ran.stdout.splitlines()[0].split()[:2] == ["user", "conversation"]
    assert ran.stdout.splitlines()[1].split()[:2] == ["ann", "c"]
    assert "refused line 2: user_text: is empty or blank" in ran.stderr
    assert "unreadable line 3: " in ran.stderr
    assert "jsonlines: 1 would be added, 0 there already, 0 repeated, 1 refused, 1 unreadable" in (
        ran.stdout
    )
    assert "no ledger was asked" in ran.stderr


def test_what_is_printed_is_bounded(tmp_path: Path) -> None:
    good = [{**LINE, "conversation_id": f"c{number}"} for number in range(1_500)]
    file = lines_in(tmp_path / "turns", *good, *(["bad"] * 300))
    ran = run(file, "--dry-run")
    assert "... and 1,450 more; --json lists the first 1,000\n" in ran.stdout
    assert "... and 280 more unreadable" in ran.stderr
    assert len(ran.stdout.splitlines()) < 60
    assert len(ran.stderr.splitlines()) < 25
    told = json.loads(run(file, "--dry-run", "--json").stdout)
    assert len(told["conversations"]) == CONVERSATIONS_KEPT_MAX
    assert told["conversations_more"] == 1_500 - CONVERSATIONS_KEPT_MAX
    assert len(told["unreadable"]) + told["unreadable_more"] == 300


def test_standard_input_is_a_file_too(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps({**LINE, "user_id": user}) for user in ("ann", "ben"))
    ran = CliRunner().invoke(main, ["import", "-", "--dry-run", "--json"], input=lines)
    assert ran.exit_code == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["file"], told["format"], told["accepted"]) == ("-", "jsonlines", 2)
    zipped(tmp_path / "a.zip", FILES)
    packed = (tmp_path / "a.zip").read_bytes()
    options = ("--format", "claude", "--dry-run", "--json")
    ran = CliRunner().invoke(main, ["import", "-", *options], input=packed)
    assert ran.exit_code == 0, ran.stderr
    alone = json.loads(run(str(tmp_path / "a.zip"), *options).stdout)
    assert {**json.loads(ran.stdout), "file": alone["file"]} == alone


def test_standard_input_twice_or_of_no_known_format_is_refused() -> None:
    twice = CliRunner().invoke(main, ["import", "-", "-", "--dry-run"], input="")
    assert twice.exit_code == 2
    assert "FILE: names standard input (-) more than once" in twice.stderr
    unknown = CliRunner().invoke(main, ["import", "-", "--dry-run"], input="hello")
    assert unknown.exit_code == 2
    assert "standard input" in unknown.stderr


def test_of_several_files_each_is_told_and_one_that_is_no_export_costs_no_other(
    tmp_path: Path,
) -> None:
    first = lines_in(tmp_path / "first", LINE)
    bad = tmp_path / "bad"
    bad.write_text("hello")
    last = lines_in(tmp_path / "last", {**LINE, "user_text": "again"}, LINE)

    ran = run(first, str(bad), last, "--dry-run", "--json")

    assert ran.exit_code == 1, ran.stderr
    told = json.loads(ran.stdout)["files"]
    assert [file["file"] for file in told] == [first, str(bad), last]
    assert [file.get("accepted") for file in told] == [1, None, 2]
    assert "format" in told[1]["error"]

    shown = run(first, str(bad), last, "--dry-run")
    assert shown.exit_code == 1
    assert f"memledger: {bad}: " in shown.stderr
    assert shown.stdout.count("would be added, 0 there already") == 2
    assert shown.stdout.index(first) < shown.stdout.index(last)
    assert run(first, last, "--dry-run").exit_code == 0


def test_files_passed_over_are_told_with_why(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", {**FILES, "note.txt": b"hello"})
    ran = run(str(tmp_path / "a.zip"), "--format", "claude", "--dry-run")
    assert ran.exit_code == 0, ran.stderr
    assert "passed over, since of the format chatgpt, not claude: chatgpt\n" in ran.stdout
    assert "passed over, since of no known format: note.txt\n" in ran.stdout


def test_what_the_file_says_is_printed_and_not_obeyed(tmp_path: Path) -> None:
    hostile = "\x1b[2J\u202e\ud800"
    file = lines_in(tmp_path / "turns", {**LINE, "conversation_id": hostile, "user_id": hostile})
    for options in ([], ["--json"]):
        ran = run(file, "--dry-run", *options)
        assert ran.exit_code == 1
        assert "\x1b" not in ran.stdout + ran.stderr


def test_the_formats_are_in_the_help_and_in_the_refusal_of_another(tmp_path: Path) -> None:
    shown = run("--help").stdout
    file = tmp_path / "unknown"
    file.write_text("hello")
    refused = run(str(file), "--dry-run")
    assert refused.exit_code == 2
    for importer in IMPORTERS:
        assert importer.name in shown
        assert importer.name in refused.stderr


@pytest.mark.parametrize(
    ("dry", "told"),
    [
        ([], "interrupted after 500 turns, which stand"),
        (["--dry-run"], "interrupted; nothing was appended"),
    ],
)
def test_ctrl_c_says_what_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dry: list[str], told: str
) -> None:
    async def interrupted(_asked: object, note: Any) -> None:
        for accepted, path in ((200, "one"), (300, "two")):
            seen = ImportProgress(
                accepted=accepted, already_there=0, refused=0, unreadable=0, bytes_read=1
            )
            note(GivenFile(path=Path(path), size=2), seen)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(importing, "_import", interrupted)
    ran = run(lines_in(tmp_path / "turns", LINE), *dry)
    assert ran.exit_code == importing.INTERRUPTED == 130
    assert told in ran.stderr


class Closings:
    """Tells of some turns how they closed, one answer after the other."""

    def __init__(self, *answers: Mapping[Closing, int]) -> None:
        self._answers = list(answers)

    async def closings(self, turns: Mapping[UUID, Collection[UUID]]) -> Counter[str]:
        assert sum(map(len, turns.values())) == 2
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return Counter({str(closing): count for closing, count in answer.items()})


NOTHING = {Closing.NOTHING_FOUND: 2}


@pytest.mark.parametrize(
    ("extractor", "answers", "hinted"),
    [
        ("rules", [{}, {Closing.NOTHING_FOUND: 1}, NOTHING], True),
        ("rules", [{Closing.NOTHING_FOUND: 1, Closing.STORED: 1}], False),
        ("rules", [{Closing.NOTHING_FOUND: 1}], True),
        ("rules", [{}], True),
        ("rules", [{}, {Closing.STORED: 1}], False),
        ("verbatim", [NOTHING], False),
    ],
)
def test_whoever_found_nothing_is_told_what_finds_something(
    monkeypatch: pytest.MonkeyPatch,
    extractor: str,
    answers: list[Mapping[Closing, int]],
    *,
    hinted: bool,
) -> None:
    monkeypatch.setattr(import_hints, "_POLL_S", 0.0)
    monkeypatch.setattr(import_hints, "WAIT_S", 0.2)
    subject = uuid4()
    appended = [(subject, uuid4()), (subject, uuid4())]
    hint = asyncio.run(hint_for(extractor, "g1", appended, Closings(*answers)))
    recipe = "`MEMLEDGER_EXTRACTOR=verbatim MEMLEDGER_GENERATION=g2 memledger up --detach`"
    assert (recipe in (hint or "")) is hinted


@pytest.mark.parametrize(("generation", "following"), [("g9", "g10"), ("trial", "verbatim")])
def test_the_hint_names_a_generation_that_is_not_in_use(
    monkeypatch: pytest.MonkeyPatch, generation: str, following: str
) -> None:
    monkeypatch.setattr(import_hints, "WAIT_S", 0.0)
    appended = [(uuid4(), uuid4()), (uuid4(), uuid4())]
    hint = asyncio.run(hint_for("rules", generation, appended, Closings({})))
    assert f"MEMLEDGER_GENERATION={following} " in (hint or "")


def test_nothing_appended_is_nothing_to_wait_for() -> None:
    assert asyncio.run(hint_for("rules", "g1", [], Closings(NOTHING))) is None


PAGE = Page(ROOT / "docs" / "importing.md")


def test_the_page_tells_every_format_and_every_reason() -> None:
    assert [code_of(row[0]) for row in PAGE.table("The formats")] == [
        importer.name for importer in IMPORTERS
    ]
    owners = [name for row in PAGE.table("Whose it is") for name in codes_of(row[0])]
    assert sorted(owners) == sorted(importer.name for importer in IMPORTERS)
    reasons = [name for row in PAGE.table("What is left out") for name in codes_of(row[0])]
    assert sorted(reasons) == sorted(LeftOut)


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    (block,) = (block.text for block in PAGE.blocks if block.info == "bash run")
    command = Path(sys.executable).parent
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{command}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "jsonlines: 2 would be added" in ran.stdout
    assert json.loads(ran.stdout[ran.stdout.index("{") :])["accepted"] == 1
