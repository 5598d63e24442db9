"""Keeping a pipeline running on one machine."""
