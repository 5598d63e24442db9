"""Reading what is compressed in bounded memory and bounded time."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

RATIO_MAX: Final = 200
"""How many times its size a compressed file may become. Chats become 3 to 10 times theirs; deflate
reaches 1,032 times at most, which only a file made for it does."""

RATIO_FREE_BYTES: Final = 64 * 1024 * 1024
"""Up to here nothing is made of the ratio: short files may repeat themselves."""


class SourceBroken(Exception):
    """A file cannot be read on; the message says why. What was read of it stands."""


class InflationLimit:
    """How much may become of one compressed file, over all that is in it."""

    def __init__(self, compressed_bytes: int) -> None:
        self._left = max(RATIO_FREE_BYTES, RATIO_MAX * compressed_bytes)

    def spend(self, size: int) -> None:
        """Count what was decompressed.

        Raises:
            SourceBroken: it is too much.
        """
        self._left -= size
        if self._left < 0:
            raise SourceBroken(
                f"becomes more than {RATIO_MAX} times its size when it is decompressed, which no "
                "chats do: if they do all the same, unpack it first"
            )


class Inflated(io.RawIOBase):
    """A decompressed stream that ends with an error where it goes on for too long or breaks."""

    def __init__(self, stream: BinaryIO | IO[bytes], limit: InflationLimit) -> None:
        super().__init__()
        self._stream = stream
        self._limit = limit

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer as far as there is something; return how far, 0 at the end."""
        view = memoryview(buffer)
        try:
            chunk = self._stream.read(len(view))
        except (
            zlib.error,
            zipfile.BadZipFile,
            gzip.BadGzipFile,
            EOFError,
            NotImplementedError,
            OSError,
        ) as error:
            raise SourceBroken(f"cannot be decompressed: {error}") from None
        self._limit.spend(len(chunk))
        view[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        """Close what is read too."""
        if not self.closed:
            self._stream.close()
        super().close()
