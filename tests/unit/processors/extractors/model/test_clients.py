"""Calls are shared out among as many clients as the calls at once need."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from processors.extractors.model.clients import CLIENTS_MAX, IN_FLIGHT_MAX, Clients


class Client:
    closed = False

    async def close(self) -> None:
        self.closed = True


def test_one_client_is_enough_for_few_calls() -> None:
    clients = Clients(Client)
    for _ in range(5):
        with ExitStack() as stack:
            for _ in range(IN_FLIGHT_MAX):
                stack.enter_context(clients.lent())
    assert len(clients.made) == 1


def test_more_are_made_for_more_calls_at_once_up_to_a_bound() -> None:
    clients = Clients(Client)
    with ExitStack() as stack:
        lent = [stack.enter_context(clients.lent()) for _ in range(2 * CLIENTS_MAX * IN_FLIGHT_MAX)]
        assert len(clients.made) == CLIENTS_MAX
        assert {lent.count(client) for client in clients.made} == {2 * IN_FLIGHT_MAX}
    with clients.lent():
        assert len(clients.made) == CLIENTS_MAX


def test_all_of_them_are_closed() -> None:
    clients = Clients(Client)
    with ExitStack() as stack:
        for _ in range(IN_FLIGHT_MAX + 1):
            stack.enter_context(clients.lent())
    asyncio.run(clients.aclose())
    assert [client.closed for client in clients.made] == [True, True]
