"""A home on a disk that cannot be written says so, and what to do; it is never half in the way."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.cli.lifecycle import stop
from deploy.home import Home
from deploy.supervisor.children import child_state
from schemas.errors import ConfigurationError
from schemas.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let every write fail from now on, as on a remounted disk: root may write anywhere."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    def begin() -> None:
        for write in ("unlink", "write_bytes", "mkdir"):
            monkeypatch.setattr(Path, write, refuse)

    return begin


def test_a_home_that_cannot_be_made_is_told_with_the_way_out(
    tmp_path: Path, read_only: Callable[[], None]
) -> None:
    read_only()
    with pytest.raises(ConfigurationError, match=r"Read-only file system.*MEMLEDGER_HOME"):
        Home(tmp_path / "new").make()


def test_what_cannot_be_taken_back_is_told_with_the_way_out(
    home: Home, read_only: Callable[[], None]
) -> None:
    home.write_supervisor(child_state("supervisor", os.getpid(), ""))
    read_only()
    with pytest.raises(ConfigurationError, match=r"Read-only file system.*remount"):
        home.forget_supervisor()


def test_stopping_what_does_not_run_writes_nothing(
    home: Home, read_only: Callable[[], None]
) -> None:
    read_only()
    assert stop(Settings.model_validate({"home": home.root}), home) == []
