"""TCP ports on 127.0.0.1 for the embedded stores."""

import json
import secrets
import socket
from pathlib import Path

from deploy.embedded.directories import write_private
from deploy.embedded.errors import DataDirectoryDamagedError, EmbeddedStoreError

HOST = "127.0.0.1"

# Below Linux's range of ephemeral ports (32768 to 60999, ip_local_port_range), from which an
# outgoing connection could take a remembered port while the store is stopped.
_LOWEST_PORT = 20_000
_HIGHEST_PORT = 32_000
_PORT_MAX = 65_535
_ATTEMPTS_MAX = 200


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port of 127.0.0.1 now.

    Args:
        port: TCP port, 1 to 65535.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the servers do: connections in TIME_WAIT do not make a port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def accepts_connections(port: int) -> bool:
    """Tell whether something listens on a port of 127.0.0.1.

    Args:
        port: TCP port, 1 to 65535.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


def choose_ports(count: int) -> tuple[int, ...]:
    """Choose distinct free ports at random.

    Args:
        count: How many.

    Returns:
        The ports, each free at the time it was tried.

    Raises:
        EmbeddedStoreError: When 200 random ports were all taken.
    """
    chosen: list[int] = []
    for _ in range(_ATTEMPTS_MAX):
        port = _LOWEST_PORT + secrets.randbelow(_HIGHEST_PORT - _LOWEST_PORT)
        if port not in chosen and is_free(port):
            chosen.append(port)
        if len(chosen) == count:
            return tuple(chosen)
    raise EmbeddedStoreError(
        f"No free port was found between {_LOWEST_PORT} and {_HIGHEST_PORT} on {HOST}.",
        "Stop some of the programs that listen there.",
    )


def read_ports(path: Path) -> dict[str, int]:
    """Read the ports that were remembered.

    Args:
        path: The file that `write_ports` wrote.

    Returns:
        Port by name; empty where nothing was remembered yet.

    Raises:
        DataDirectoryDamagedError: The file does not hold ports by name.
    """
    try:
        remembered = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise DataDirectoryDamagedError(path, "is not valid JSON") from error
    if not isinstance(remembered, dict) or not all(
        isinstance(port, int) and 0 < port <= _PORT_MAX for port in remembered.values()
    ):
        raise DataDirectoryDamagedError(path, "does not hold TCP ports by name")
    return remembered


def write_ports(path: Path, ports: dict[str, int]) -> None:
    """Remember ports for the next start.

    Args:
        path: The file to replace.
        ports: Port by name.
    """
    write_private(path, json.dumps(ports))
