"""Whose memory a tool speaks for: bound when it is made, and never told by a model."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """One user at one gateway.

    Attributes:
        base_url: where the gateway listens, such as ``http://127.0.0.1:8700``.
        api_key: the tenant's API key.
        user_id: the user.
    """

    base_url: str
    api_key: str = field(repr=False)
    user_id: str

    def url(self, path: str) -> str:
        """Return the whole address of a path of the API."""
        return self.base_url.rstrip("/") + path

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        return {"Authorization": f"Bearer {self.api_key}"}
