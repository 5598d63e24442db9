"""The composition root: the command line, the embedded stores and the process supervisor."""
