"""Whether the account that runs PostgreSQL can reach what it needs."""

from pathlib import Path

import pytest

from deploy.embedded.accounts import (
    ServiceAccount,
    can_execute,
    first_closed,
    require_reachable,
)
from deploy.embedded.errors import DataDirectoryUnreachableError
from tests.support.open_path import open_up

STRANGER = ServiceAccount(name="stranger", user_id=54_321, group_id=54_321)


@pytest.fixture
def open_directory(tmp_path: Path) -> Path:
    """A directory that anyone can reach, relative to what lies above the test's own."""
    directory = tmp_path / "open"
    directory.mkdir()
    open_up(directory)
    return directory


def test_an_open_directory_is_reachable(open_directory: Path) -> None:
    assert first_closed(open_directory, STRANGER) is None
    require_reachable(open_directory, STRANGER)


def test_the_first_closed_directory_on_the_way_is_named(open_directory: Path) -> None:
    inner = open_directory / "closed" / "inner"
    inner.mkdir(parents=True)
    inner.chmod(0o700)
    inner.parent.chmod(0o700)

    with pytest.raises(DataDirectoryUnreachableError) as refused:
        require_reachable(inner, STRANGER)

    assert refused.value.closed == inner.parent
    assert f"chmod o+x {inner.parent}" in str(refused.value)
    assert "'stranger'" in str(refused.value)


def test_a_link_into_a_closed_directory_is_unreachable(open_directory: Path) -> None:
    closed = open_directory / "closed"
    (closed / "open").mkdir(parents=True)
    closed.chmod(0o700)
    link = open_directory / "link"
    link.symlink_to(closed / "open")

    with pytest.raises(DataDirectoryUnreachableError):
        require_reachable(link, STRANGER)


def test_the_owner_is_judged_by_the_owner_bits(open_directory: Path) -> None:
    status = open_directory.stat()
    owner = ServiceAccount(name="owner", user_id=status.st_uid, group_id=54_321)
    open_directory.chmod(0o077)
    try:
        closed = first_closed(open_directory, owner)
    finally:
        open_directory.chmod(0o700)

    assert closed == open_directory
    assert first_closed(open_directory, owner) is None


def test_a_member_of_the_group_is_judged_by_the_group_bits(open_directory: Path) -> None:
    member = ServiceAccount(name="member", user_id=54_321, group_id=open_directory.stat().st_gid)
    open_directory.chmod(0o701)
    assert first_closed(open_directory, member) == open_directory

    open_directory.chmod(0o710)
    assert first_closed(open_directory, member) is None


def test_a_program_needs_its_own_permission_too(open_directory: Path) -> None:
    program = open_directory / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o744)
    assert not can_execute(program, STRANGER)

    program.chmod(0o755)
    assert can_execute(program, STRANGER)


def test_the_caller_itself_is_never_refused(open_directory: Path) -> None:
    open_directory.chmod(0o000)
    try:
        require_reachable(open_directory, None)
    finally:
        open_directory.chmod(0o755)
