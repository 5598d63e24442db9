-- Finding the subjects that hold many episodes.
CREATE INDEX memories_episodes ON memories (subject)
    WHERE kind = 'episodic'
        AND valid_to IS NULL
        AND retracted_at IS NULL
        AND merged_into IS NULL
        AND merged_from = '{{}}';
