-- Pauses: users of whom nothing is noted and nothing recalled until they resume. They lie here and not
-- in the log, since they must hold in every gateway before a turn is appended, and outlive whatever is
-- built anew from the log.

CREATE TABLE pauses (
    -- One row for each user who ever paused; a later change replaces it.
    subject uuid PRIMARY KEY REFERENCES subjects,
    paused boolean NOT NULL,
    -- Its number in the feed, which destructions and pauses count together, in the order of commit.
    seq bigint NOT NULL UNIQUE CHECK (seq > 0),
    changed_at timestamptz NOT NULL DEFAULT now()
);

-- What makes cached keys stale: whoever has read it up to a number has missed nothing below it.
CREATE VIEW feed AS
SELECT seq, subject, kind FROM destructions
UNION ALL
SELECT seq, subject, 'pause' FROM pauses;
