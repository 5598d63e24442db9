"""Words: what a text is found by in its own spelling, and how much a match of words is worth."""
