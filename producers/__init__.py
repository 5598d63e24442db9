"""The way in: appending turns to the log, importers of chat exports, the HTTP ingest routes."""
