"""Reading UTF-8, and what a byte order mark says is UTF-16 or UTF-32, as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING, BinaryIO, Final

from producers.importers.inflating import SourceBroken

if TYPE_CHECKING:
    from typing_extensions import Buffer

_CHUNK_BYTES: Final = 64 * 1024
# The longer marks first: one begins with the shorter.
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, None),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD_BYTES: Final = 4


class _Utf8(io.RawIOBase):
    """A text in UTF-8, whatever it was written in."""

    def __init__(self, head: bytes, stream: BinaryIO | io.RawIOBase, encoding: str | None) -> None:
        super().__init__()
        self._ready = head
        self._stream = stream
        # Half a character goes through as it is: the policy refuses it where it stands.
        self._decoder = (
            None
            if encoding is None
            else codecs.getincrementaldecoder(encoding)(errors="surrogatepass")
        )
        if self._decoder is not None:
            self._ready = self._encoded(head, final=False)

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer as far as there is something; return how far, 0 at the end."""
        view = memoryview(buffer)
        while not self._ready:
            chunk = _read(self._stream, _CHUNK_BYTES)
            self._ready = chunk if self._decoder is None else self._encoded(chunk, final=not chunk)
            if not chunk:
                break
        given, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(given)] = given
        return len(given)

    def _encoded(self, chunk: bytes, *, final: bool) -> bytes:
        assert self._decoder is not None  # noqa: S101 - callers look
        try:
            return self._decoder.decode(chunk, final).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise SourceBroken(f"is not {error.encoding}, as its first bytes say") from None


def utf8_of(stream: BinaryIO | io.RawIOBase) -> io.BufferedReader:
    """Return a stream's text in UTF-8, without a byte order mark; it is for the caller to close.

    Raises:
        SourceBroken: it cannot be read; so may every read of what is returned.
    """
    head = _read(stream, _HEAD_BYTES)
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return io.BufferedReader(_Utf8(head[len(mark) :], stream, encoding), _CHUNK_BYTES)
    return io.BufferedReader(_Utf8(head, stream, None), _CHUNK_BYTES)


def _read(stream: BinaryIO | io.RawIOBase, size: int) -> bytes:
    try:
        return stream.read(size) or b""
    except OSError as error:
        raise SourceBroken(f"cannot be read on: {error.strerror or error}") from None
