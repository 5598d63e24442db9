-- Recall reads every live vector of one subject. In the table they lie as the turns came, each on a
-- page of its own; in this index they lie side by side, some nine on a page.
-- An entry of an index holds at most 2,704 bytes, so vectors above 1,000 components (two bytes each,
-- beside an embedder's name of at most 200 bytes) are read in the table.
DO $$
BEGIN
    IF {dimension} <= 1000 THEN
        -- Numbers of a vector do not compress; trying would cost time at every insert.
        ALTER TABLE memories ALTER COLUMN embedding SET STORAGE PLAIN;
        CREATE INDEX memories_recall ON memories (subject)
            INCLUDE (memory_id, embedding_model, expires_at, embedding)
            WHERE valid_to IS NULL AND retracted_at IS NULL;
    END IF;
END
$$;

-- An index alone answers for the pages of the table that a vacuum has been to, so it comes often.
ALTER TABLE memories SET (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02
);
