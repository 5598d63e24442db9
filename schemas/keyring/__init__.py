"""The keyring: subjects, their keys and the records of their end, in a database of its own."""

from schemas.keyring.keyring import LEASE_SECONDS, Keyring
from schemas.keyring.records import Erased, Pause, SubjectKeys
from schemas.keyring.wrapping import EpochKeys, FileEpochKeys

__all__ = [
    "LEASE_SECONDS",
    "EpochKeys",
    "Erased",
    "FileEpochKeys",
    "Keyring",
    "Pause",
    "SubjectKeys",
]
