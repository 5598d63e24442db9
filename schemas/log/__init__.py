"""Reading and appending to the Kafka log."""
