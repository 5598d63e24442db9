"""A program in a terminal that prompts, reads a line, answers and prompts again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import wait_until

_TIMEOUT_S = 60.0


class Terminal:
    """A running program.

    Its output goes into files, so that it never waits for whoever reads it.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], shown: Path, told: Path, prompt: str
    ) -> None:
        """Hold a program; made by :func:`opened_terminal`."""
        self._process = process
        self._shown, self._told = shown, told
        self._prompt = prompt
        self._said = 0

    @property
    def told(self) -> str:
        """What it told on standard error."""
        return self._told.read_text("utf-8")

    def say(self, line: str) -> str:
        """Type a line, once it is asked for, and return what is shown until the next is."""
        self._prompted()
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())
        self._process.stdin.flush()
        self._said += 1
        self._prompted()
        return self._shown.read_text("utf-8").split(self._prompt)[-2].strip()

    def end(self) -> int:
        """End the input, wait until the program ends and return its exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(_TIMEOUT_S)

    def _prompted(self) -> None:
        """Wait for a prompt behind each line that was typed."""

        def prompted() -> bool:
            assert self._process.poll() is None, self.told
            return self._shown.read_text("utf-8").count(self._prompt) > self._said

        wait_until(prompted, what=f"prompt {self._said + 1}", timeout_s=_TIMEOUT_S)


@contextmanager
def opened_terminal(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    directory: Path,
    prompt: str,
) -> Iterator[Terminal]:
    """Yield a running program; one that has not ended with the block is killed.

    Args:
        command: the program and its arguments.
        environment: its environment.
        directory: where its output is kept.
        prompt: what it shows when it waits for a line.
    """
    shown, told = directory / "shown", directory / "told"
    with shown.open("wb") as shown_file, told.open("wb") as told_file:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=shown_file,
            stderr=told_file,
        )
    try:
        yield Terminal(process, shown, told, prompt)
    finally:
        process.kill()
        process.wait()
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()
