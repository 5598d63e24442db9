"""The Java that runs the embedded broker."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.errors import JavaMissingError, JavaTooOldError

# Kafka 4's brokers are compiled for Java 17.
JAVA_OLDEST = 17

_VERSION_TIMEOUT_SECONDS = 30.0
# The output of `java -version` since Java 9 and, with the leading "1.", before.
_VERSION = re.compile(r'version "(?P<full>(?:1\.)?(?P<major>\d+)[^"]*)"')


@dataclass(frozen=True, kw_only=True)
class Java:
    """A Java that was asked for its version.

    Attributes:
        program: The `java` program.
        version: Its full version, such as "17.0.15".
    """

    program: Path
    version: str


def find_java() -> Java:
    """Find a Java that is new enough: the one of JAVA_HOME where set, else the PATH's.

    Raises:
        JavaMissingError: There is none, or it does not run.
        JavaTooOldError: It is older than 17.
    """
    program = _program()
    full, major = _version(program)
    if major < JAVA_OLDEST:
        raise JavaTooOldError(program, full, JAVA_OLDEST)
    return Java(program=program, version=full)


def _program() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        # A JAVA_HOME that leads nowhere is a mistake to tell, not to work around.
        if not os.access(program, os.X_OK):
            raise JavaMissingError(f"JAVA_HOME is set, but {program} is not a program")
        return program
    found = shutil.which("java")
    if found is None:
        raise JavaMissingError("JAVA_HOME is not set and 'java' is not on the PATH")
    return Path(found)


def _version(program: Path) -> tuple[str, int]:
    try:
        answer = subprocess.run(
            [program, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaMissingError(f"{program} does not run ({error})") from error
    match = _VERSION.search(answer.stdout)
    if answer.returncode != 0 or match is None:
        raise JavaMissingError(f"'{program} -version' does not tell a version")
    return match["full"], int(match["major"])
