"""What the README tells a newcomer to type works, in its order, and shows what it promises."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deploy.supervisor.ports import free_port
from tests.support.command import clean_environment, memledger
from tests.support.documents import ROOT, Page

README = Page(ROOT / "README.md")
TIMEOUT_S = 240.0

# Runs behind the README's class, as a chat app would use it.
CHAT = """
import json, os, sys

memory = Memory(sys.argv[1], sys.argv[2])
notes, recall_id = memory.notes_for("ann", "Which city does she live in?")
told = ("ann", "c3", "t3", "I am allergic to peanuts.", "I will remember that.")
positions = [memory.remember(*told), memory.remember(*told)]
answer = httpx.post(
    f"{sys.argv[1]}/v1/recall",
    headers={"Authorization": f"Bearer {sys.argv[2]}"},
    json={"user_id": "ann", "query": "Is she allergic to anything?", "at_least": positions[1]},
    timeout=30,
)
answer.raise_for_status()
found = [memory["content"] for memory in answer.json()["memories"]]
print("CHAT", json.dumps({"notes": notes, "recall_id": recall_id, "found": found}))
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory that Postgres' own user can walk to; what runs in it is stopped at the end."""
    root = Path(tempfile.mkdtemp(prefix="memledger-readme-"))
    root.chmod(0o755)
    yield root
    down = memledger("down", environment={"MEMLEDGER_HOME": str(root)})
    assert down.status == 0, down.errors
    shutil.rmtree(root, ignore_errors=True)


def test_the_first_five_minutes_of_the_readme_go_as_it_says(home: Path, tmp_path: Path) -> None:
    script = tmp_path / "readme.sh"
    script.write_text(_script(_chat_app(tmp_path)))
    finished = subprocess.run(
        ["/usr/bin/env", "bash", script],
        cwd=ROOT,
        env={
            **clean_environment(),
            "MEMLEDGER_HOME": str(home),
            "MEMLEDGER_GATEWAY_PORT": str(free_port()),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    output = finished.stdout

    turns, recalled = _objects(output, "turn_id"), _objects(output, "memories")
    assert [sorted(turn) for turn in turns] == [
        ["client_turn_id", "position", "turn_id"],
        ["position", "turn_id"],
    ]
    assert "no flags are open" in output
    assert "Pune" in recalled[0]["memories"][0]["content"]
    assert recalled[0]["memories"][0]["quote"] in "I moved to Pune."
    assert "Bangalore" not in json.dumps(recalled[0])
    assert "Pune" in recalled[0]["injection"]

    history = _part(output, "memory", until="score")
    assert _row(history, "Bangalore").split("superseded")[1].count("Bangalore") == 1
    assert "live" in _row(history, "Pune")
    assert "vegetarian" in history
    march = _part(output, "score", until="generation")
    assert "Bangalore" in march
    assert "Pune" not in march
    assert "every turn is accounted for" in output

    (chat,) = (json.loads(line[5:]) for line in output.splitlines() if line.startswith("CHAT "))
    assert "Pune" in chat["notes"]
    assert len(chat["recall_id"]) == 36
    assert any("peanuts" in content for content in chat["found"])
    assert len(chat["found"]) == len(set(chat["found"]))
    assert "stopped: supervisor" in output


def _script(chat_app: Path) -> str:
    """Return the README's commands as one script, with its chat app run before the last block."""
    blocks = [block.text for block in README.blocks if block.info == "bash run"]
    assert len(blocks) > 1
    *first, last = blocks
    assert last.strip() == "memledger down"
    run_chat_app = f'"{sys.executable}" "{chat_app}" "$url" "$key"\n'
    return "\necho\n".join(["set -euo pipefail", *first, run_chat_app, last])


def _chat_app(directory: Path) -> Path:
    (block,) = (block.text for block in README.blocks if block.info == "python run")
    path = directory / "chat_app.py"
    path.write_text(block + CHAT)
    return path


def _objects(output: str, member: str) -> list[dict[str, Any]]:
    """Return the JSON objects that stand on a line of their own and have a member of that name."""
    found = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [one for one in found if member in one]


def _part(output: str, first: str, *, until: str) -> str:
    """Return the lines from the one that begins with ``first`` to the one that begins so."""
    lines = output.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(first))
    end = next(
        number for number, line in enumerate(lines) if number > start and line.startswith(until)
    )
    return "\n".join(lines[start:end])


def _row(table: str, content: str) -> str:
    (row,) = (line for line in table.splitlines() if content in line)
    return row
