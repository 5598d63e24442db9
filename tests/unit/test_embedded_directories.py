"""Files of the embedded stores: written whole, locked, and refused with a reason."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.embedded.directories import explained, locked, made_whole, make_writable, write_private
from deploy.embedded.errors import (
    DataDirectoryNotWritableError,
    DiskFullError,
    StoreBusyError,
)


def test_missing_parents_get_the_mode_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        make_writable(tmp_path / "a" / "b", mode=0o711)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a", tmp_path / "a" / "b")]
    assert modes == [0o711, 0o711]


def test_an_existing_directory_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)

    make_writable(tmp_path, mode=0o711)

    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_a_directory_below_a_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    wanted = tmp_path / "file" / "data"

    with pytest.raises(
        DataDirectoryNotWritableError, match="cannot be read and written"
    ) as refused:
        make_writable(wanted, mode=0o700)

    assert str(wanted) in str(refused.value)
    assert "Choose a directory" in refused.value.remedy


def test_a_kernel_directory_is_refused() -> None:
    with pytest.raises(DataDirectoryNotWritableError):
        make_writable(Path("/proc/memledger"), mode=0o700)


def test_a_write_to_a_full_device_says_that_the_disk_is_full() -> None:
    device = Path("/dev/full")

    with pytest.raises(DiskFullError, match="full"), explained(device):
        device.write_text("x")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, DiskFullError),
        (errno.EDQUOT, DiskFullError),
        (errno.EROFS, DataDirectoryNotWritableError),
        (errno.EACCES, DataDirectoryNotWritableError),
    ],
)
def test_each_reason_has_its_error(number: int, expected: type[Exception]) -> None:
    with pytest.raises(expected), explained(Path("/data")):
        raise OSError(number, os.strerror(number))


def test_a_private_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    secret = tmp_path / "secret"

    write_private(secret, "one")
    write_private(secret, "two")

    assert secret.read_text() == "two"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    write_private(secret, "old")

    def fail(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskFullError):
        write_private(secret, "new")

    assert secret.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]


def test_a_lock_keeps_another_process_out_until_its_holder_dies(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = (
        "import sys, pathlib\n"
        "from deploy.embedded.directories import locked\n"
        "with locked(pathlib.Path(sys.argv[1]), timeout_seconds=5):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(StoreBusyError, match="Another process has held"),
            locked(path, timeout_seconds=0.05),
        ):
            pytest.fail("two processes hold one lock")

        holder.kill()
        holder.wait()
        with locked(path, timeout_seconds=1.0):
            pass


def fill_half(wanted: Path) -> None:
    with made_whole(wanted) as partial:
        (partial / "file").write_text("half")
        raise ZeroDivisionError


def fill_beyond_the_disk(wanted: Path) -> None:
    with made_whole(wanted) as partial:
        (partial / "full").symlink_to("/dev/full")
        (partial / "full").write_text("x")


def test_a_directory_takes_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    wanted = tmp_path / "data"
    (tmp_path / "data.partial-old").mkdir()

    with pytest.raises(ZeroDivisionError):
        fill_half(wanted)
    assert list(tmp_path.iterdir()) == []

    with made_whole(wanted) as partial:
        (partial / "file").write_text("whole")
        assert not wanted.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    assert (wanted / "file").read_text() == "whole"


def test_a_full_disk_while_filling_a_directory_is_explained(tmp_path: Path) -> None:
    with pytest.raises(DiskFullError):
        fill_beyond_the_disk(tmp_path / "data")
