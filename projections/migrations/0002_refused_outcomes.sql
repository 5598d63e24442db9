-- Outcomes that nobody can use close their turns as dead-lettered.

CREATE TABLE refused_outcomes (
    -- An outcome's record that was set aside, by what its header names. The topics are read
    -- independently of each other, so it may come before its turn; and a good outcome that comes
    -- after it does not count.
    subject uuid NOT NULL,
    partition integer NOT NULL,
    outcome_id uuid NOT NULL,
    outcome_offset bigint NOT NULL,
    PRIMARY KEY (subject, outcome_id, partition)
);

ALTER TABLE refused_outcomes ENABLE ROW LEVEL SECURITY;
ALTER TABLE refused_outcomes FORCE ROW LEVEL SECURITY;
CREATE POLICY refused_outcomes_of_named_subjects ON refused_outcomes USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
