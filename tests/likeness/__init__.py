"""Labelled pairs of statements: which say the same in other words, and which only look so."""
