-- What recalls served, and which recall a turn was answered with.

CREATE TABLE recalls (
    subject uuid NOT NULL,
    recall_id uuid NOT NULL,
    served_at timestamptz NOT NULL,
    generation text NOT NULL,
    policy text NOT NULL,
    -- Why nothing was served; NULL where something was.
    reason text,
    form text NOT NULL,
    template smallint NOT NULL,
    budget_tokens integer,
    as_of timestamptz,
    known_at timestamptz,
    -- What was served, in order; and of each its score and the date that its note ended with.
    memory_ids uuid[] NOT NULL,
    scores double precision[] NOT NULL,
    until text[] NOT NULL,
    -- Of the block, under a secret of the subject that lies elsewhere.
    digest bytea NOT NULL,
    PRIMARY KEY (subject, recall_id)
);

-- What is past its days is looked for in the order of time.
CREATE INDEX recalls_served ON recalls (served_at);

ALTER TABLE recalls ENABLE ROW LEVEL SECURITY;
ALTER TABLE recalls FORCE ROW LEVEL SECURITY;
CREATE POLICY recalls_of_named_subjects ON recalls USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY recalls_of_every_subject ON recalls FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
-- What is past its days is taken away, whosever it is.
CREATE POLICY recalls_past_their_days ON recalls FOR DELETE USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);

-- The recall that was served for a turn; NULL where the turn names none, or has no outcome that tells.
ALTER TABLE turns ADD COLUMN recall_id uuid;
CREATE INDEX turns_recall ON turns (subject, recall_id) WHERE recall_id IS NOT NULL;
