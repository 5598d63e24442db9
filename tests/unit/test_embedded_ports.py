"""Ports of the embedded stores: free when chosen, remembered, out of the ephemeral range."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.embedded.errors import DataDirectoryDamagedError
from deploy.embedded.ports import (
    HOST,
    accepts_connections,
    choose_ports,
    is_free,
    read_ports,
    write_ports,
)


def test_a_port_with_a_listener_is_not_free() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_free(port)
        assert accepts_connections(port)

    assert is_free(port)
    assert not accepts_connections(port)


def test_chosen_ports_are_distinct_free_and_never_ephemeral() -> None:
    lowest, highest = map(
        int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
    )
    ports = choose_ports(20)

    assert len(set(ports)) == 20
    assert all(is_free(port) for port in ports)
    assert not any(lowest <= port <= highest for port in ports)


def test_a_taken_port_is_never_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter([1, 1, 2, 2, 3])
    monkeypatch.setattr("deploy.embedded.ports.secrets.randbelow", lambda _limit: next(draws))
    monkeypatch.setattr("deploy.embedded.ports.is_free", lambda port: port != 20_001)

    assert choose_ports(2) == (20_002, 20_003)


@given(ports=st.dictionaries(st.text(min_size=1), st.integers(1, 65_535)))
def test_what_was_remembered_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, ports: dict[str, int]
) -> None:
    path = tmp_path_factory.getbasetemp() / "ports.json"

    write_ports(path, ports)

    assert read_ports(path) == ports


def test_nothing_is_remembered_at_first(tmp_path: Path) -> None:
    assert read_ports(tmp_path / "ports.json") == {}


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '"x"', '{"a": "5432"}', '{"a": 0}', '{"a": 65536}', '{"a": null}']
)
def test_a_damaged_file_is_an_error_and_not_an_empty_answer(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ports.json"
    path.write_text(content)

    with pytest.raises(DataDirectoryDamagedError, match=r"ports\.json"):
        read_ports(path)
