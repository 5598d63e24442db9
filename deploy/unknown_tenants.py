"""Tenants that a file of settings names and that there are not: misspelt, or made later."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final, Protocol

from schemas.errors import UnknownTenant

_LOGGER: Final = logging.getLogger(__name__)


class Tenants(Protocol):
    """The part of the keyring that knows tenants."""

    async def require_tenant(self, name: str) -> None:
        """Make sure that there is a tenant of that name.

        Raises:
            UnknownTenant: there is none.
            KeyringUnavailable: it cannot be told.
        """
        ...


async def warn_of_unknown_tenants(variable: str, named: Iterable[str], tenants: Tenants) -> None:
    """Warn of each tenant that there is not; nothing is refused, since it may be made later.

    Args:
        variable: the environment variable that names the file.
        named: the tenants that the file names.
        tenants: knows which tenants there are.

    Raises:
        KeyringUnavailable: the tenants cannot be asked for.
    """
    for tenant in named:
        try:
            await tenants.require_tenant(tenant)
        except UnknownTenant as error:
            _LOGGER.warning("%s names a tenant that there is not: %s", variable, error)
