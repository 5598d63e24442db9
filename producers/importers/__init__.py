"""Importers of chat exports."""
