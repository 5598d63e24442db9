-- What a memory is found by in its own spelling, see projections/words/postings.py: its words' forms and
-- how often each occurs. It follows from the content alone. NULL where it was not made yet: rows of an
-- earlier release get it from the projector. An analysis that changes comes with a migration that sets
-- it to NULL.
ALTER TABLE memories ADD COLUMN words bytea;
-- Numbers of hashes do not compress; beside a vector there is room for them in the row.
ALTER TABLE memories ALTER COLUMN words SET STORAGE PLAIN;

-- What recall weighs besides: the version, since when it is true, and a number: importance times 16, and
-- then one bit each for episodic, procedural, of the highest importance for the user's safety, and pinned;
-- above it one for each slot that has a topic (projections/slot_topics.py), where it is about the user.
-- In one value, since each value more that is told of a thousand memories costs a tenth of a millisecond.
ALTER TABLE memories ADD COLUMN facts bytea NOT NULL GENERATED ALWAYS AS (
    uuid_send(memory_id)
    || timestamptz_send(valid_from)
    || int2send(
        (
            importance * 16
            + CASE kind WHEN 'episodic' THEN 1 WHEN 'procedural' THEN 2 ELSE 0 END
            + CASE WHEN importance = 5 AND slot IN ('allergy', 'need') THEN 4 ELSE 0 END
            + CASE WHEN pinned_at IS NULL THEN 0 ELSE 8 END
            + CASE
                WHEN about <> 'user' THEN 0
                WHEN slot = 'diet' THEN 128
                WHEN slot = 'residence' THEN 256
                ELSE 0
            END
        )::smallint
    )
) STORED;
ALTER TABLE memories ALTER COLUMN facts SET STORAGE PLAIN;

CREATE INDEX memories_without_words ON memories (subject) WHERE words IS NULL;

-- All that recall weighs lies beside the vector, so that it reads the table for what it serves alone.
DO $$
BEGIN
    IF {dimension} <= 1000 THEN
        DROP INDEX memories_recall;
        CREATE INDEX memories_recall ON memories (subject)
            INCLUDE (
                facts, embedding, words, embedding_model, expires_at, pinned_at
            )
            WHERE valid_to IS NULL AND retracted_at IS NULL AND merged_into IS NULL;
    END IF;
END
$$;
