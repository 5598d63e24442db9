"""How what was proposed is decided."""
