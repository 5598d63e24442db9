"""PostgreSQL with pgvector and a Kafka broker on this machine, for trials and small installations.

Both are started detached and found again by a later process; both keep their data on disk and
listen on 127.0.0.1 alone.
"""

from deploy.embedded.postgres import EmbeddedPostgres

__all__ = ["EmbeddedPostgres"]
