"""The stream workers: extract proposals, decide what becomes of them, append the outcome."""
