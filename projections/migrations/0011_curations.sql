-- What persons decide about memories.

-- When a person pinned the version, so that it is served whatever is asked; NULL while it is not pinned.
ALTER TABLE memories ADD COLUMN pinned_at timestamptz;
-- When a person last created, approved or corrected it; NULL where nobody did.
ALTER TABLE memories ADD COLUMN curated_at timestamptz;

-- Every recall asks for a subject's pins.
CREATE INDEX memories_pinned ON memories (subject, pinned_at)
    WHERE pinned_at IS NOT NULL
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL;

CREATE TABLE suppressions (
    -- What a person deleted or corrected, by keys that tell nothing of it. Words that were said up to
    -- then are not stored again under the same key.
    subject uuid NOT NULL,
    key bytea NOT NULL,
    -- The latest such decision.
    suppressed_at timestamptz NOT NULL,
    PRIMARY KEY (subject, key)
);

ALTER TABLE suppressions ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppressions FORCE ROW LEVEL SECURITY;
CREATE POLICY suppressions_of_named_subjects ON suppressions USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY suppressions_of_every_subject ON suppressions FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
