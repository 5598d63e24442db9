"""Decoding JSON that a stranger wrote."""

from schemas.json_text import decode_json

__all__ = ["decode_json"]
