"""Estimating what a language model would cost, without asking it."""
