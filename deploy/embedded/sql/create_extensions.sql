-- pgvector is not a trusted extension: only a superuser can create it.
CREATE EXTENSION IF NOT EXISTS vector;
