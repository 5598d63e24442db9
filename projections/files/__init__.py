"""A subject's files: what commands come to, how files are shown, and where both are kept."""
