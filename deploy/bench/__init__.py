"""Measuring what the pipeline does on this machine, against the bounds it is held to."""
