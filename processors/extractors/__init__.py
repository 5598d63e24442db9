"""Extractors: what proposes memories from a turn, behind :class:`schemas.ports.Extractor`."""
