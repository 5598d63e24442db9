"""The leaf package: records, ids, sealing and keys, topics, settings, ports and errors."""
