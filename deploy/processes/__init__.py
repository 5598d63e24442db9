"""The processes of a pipeline: each wires its parts together and runs until it is told to stop."""
