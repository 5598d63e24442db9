"""The read side: the projector, the read model, recall, audit and the HTTP query routes."""
