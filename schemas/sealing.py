"""Sealing: what lies in the log is a header in the clear and a payload that only its key opens.

The header travels as the record's one Kafka header (see :mod:`schemas.log.sealed`), and its exact
bytes are the associated data of the seal, so a payload cannot be moved under another header.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from schemas.errors import SealBroken

FORMAT_VERSION: Final = 1
NONCE_BYTES: Final = 12  # NIST SP 800-38D, section 8.2
TAG_BYTES: Final = 16
OVERHEAD_BYTES: Final = NONCE_BYTES + TAG_BYTES

# Format version, subject, record id, address, schema version, length of the schema name.
_PACKED: Final = struct.Struct(">B16s16sQHB")
_ADDRESS_MAX: Final = 2**64 - 1
_SCHEMA_VERSION_MAX: Final = 2**16 - 1
_SCHEMA_NAME_BYTES_MAX: Final = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a record says of itself in the clear; no personal data.

    Attributes:
        subject: whose record it is.
        record_id: the record's deterministic id.
        address: where in the subject's tree the key lies, 64 bits.
        schema_name: the name of the payload's schema, at most 255 bytes of UTF-8.
        schema_version: the number of the payload's schema, 0 to 65535.
        format_version: the version of this layout.
    """

    subject: UUID
    record_id: UUID
    address: int
    schema_name: str
    schema_version: int
    format_version: int = FORMAT_VERSION

    def encode(self) -> bytes:
        """Return the header's only encoding.

        Raises:
            ValueError: a field is outside its range.
        """
        name = self.schema_name.encode()
        if self.format_version != FORMAT_VERSION:
            raise ValueError(f"only format version {FORMAT_VERSION} is written")
        if not 0 < len(name) <= _SCHEMA_NAME_BYTES_MAX:
            raise ValueError(f"a schema name has 1 to {_SCHEMA_NAME_BYTES_MAX} bytes")
        if not (0 <= self.address <= _ADDRESS_MAX):
            raise ValueError(f"an address has 64 bits: {self.address}")
        if not (0 <= self.schema_version <= _SCHEMA_VERSION_MAX):
            raise ValueError(f"a schema version has 16 bits: {self.schema_version}")
        packed = _PACKED.pack(
            self.format_version,
            self.subject.bytes,
            self.record_id.bytes,
            self.address,
            self.schema_version,
            len(name),
        )
        return packed + name

    @staticmethod
    def decode(data: bytes) -> Header:
        """Return the header that ``data`` encodes.

        Raises:
            SealBroken: the bytes are no header, or one of a version this release does not know.
        """
        if len(data) < _PACKED.size:
            raise SealBroken(
                f"a header has at least {_PACKED.size} bytes, this one {len(data)}: "
                "the record was not written by memledger, or was cut"
            )
        version, subject, record_id, address, schema_version, length = _PACKED.unpack_from(data)
        if version != FORMAT_VERSION:
            raise SealBroken(
                f"the header's format version is {version}, this release knows {FORMAT_VERSION}: "
                "upgrade memledger"
            )
        name = data[_PACKED.size :]
        if len(name) != length or not name:
            raise SealBroken(
                f"the header announces {length} bytes of schema name, {len(name)} follow"
            )
        try:
            schema_name = name.decode()
        except UnicodeDecodeError as error:
            raise SealBroken("the header's schema name is not UTF-8") from error
        return Header(
            subject=UUID(bytes=subject),
            record_id=UUID(bytes=record_id),
            address=address,
            schema_name=schema_name,
            schema_version=schema_version,
        )


def seal(key: bytes, header_bytes: bytes, payload: bytes) -> bytes:
    """Return a random nonce of 12 bytes, then the payload under AES-256-GCM with its tag.

    Args:
        key: the leaf key of 32 bytes.
        header_bytes: the record's encoded header, bound to the payload as associated data.
        payload: what to seal.
    """
    nonce = os.urandom(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, payload, header_bytes)


def open_sealed(key: bytes, header_bytes: bytes, sealed: bytes) -> bytes:
    """Return the payload that :func:`seal` sealed.

    Raises:
        SealBroken: key, header and sealed bytes do not belong together, or a bit was changed.
    """
    if len(sealed) < OVERHEAD_BYTES:
        raise SealBroken(f"a sealed payload has at least {OVERHEAD_BYTES} bytes, not {len(sealed)}")
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], header_bytes)
    except InvalidTag as error:
        raise SealBroken(
            "the payload does not open under its key and header: "
            "it was altered, or sealed under another key"
        ) from error
