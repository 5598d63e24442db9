"""Deciding: the parts of which :mod:`processors.reconcile` is made, each a concept of its own."""
