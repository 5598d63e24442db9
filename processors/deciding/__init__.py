"""Deciding what becomes of what was proposed: each concept a part of its own."""
