-- What was refused, so that every turn can tell why it holds no more than it does.

CREATE TABLE rejections (
    -- Operations that code refused, by the rules that did: never what was proposed, so never a secret.
    subject uuid NOT NULL,
    -- The record whose outcome refused it: the turn, the end of its session, a curation or a
    -- consolidation.
    record_id uuid NOT NULL,
    -- The operation's place in the proposal for that record.
    place integer NOT NULL,
    -- The turn whose words it rests on; NULL where the outcome does not tell it.
    turn_id uuid,
    reasons text[] NOT NULL,
    rejected_at timestamptz NOT NULL,
    PRIMARY KEY (subject, record_id, place)
);

ALTER TABLE rejections ENABLE ROW LEVEL SECURITY;
ALTER TABLE rejections FORCE ROW LEVEL SECURITY;
CREATE POLICY rejections_of_named_subjects ON rejections USING (
    subject = ANY (
        (SELECT NULLIF(current_setting('memledger.subjects', true), '')::uuid[])::uuid[]
    )
);
CREATE POLICY rejections_of_every_subject ON rejections FOR SELECT USING (
    (SELECT current_setting('memledger.every_subject', true)) = 'yes'
);
