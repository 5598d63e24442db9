-- What the workers ask about turns that wait.

-- name: select_waiting
-- Return the turns of a conversation that wait, by offset.
SELECT turn_id, turn_offset, conversation_id, cause, occurred_at, received_at
FROM waiting_turns
WHERE subject = %(subject)s
    AND conversation_id = %(conversation_id)s
    AND turn_offset < %(below)s
ORDER BY turn_offset
LIMIT %(limit)s;

-- name: select_quiet
-- Return the conversations of a partition, of whatever subject, whose last turn that waits was
-- accepted before a moment, the longest quiet first; the caller may see all of them.
SELECT
    subject, conversation_id, first_turn_id, last_turn_id, last_received_at, turns
FROM (
    SELECT
        subject, conversation_id,
        (array_agg(turn_id ORDER BY turn_offset))[1] AS first_turn_id,
        (array_agg(turn_id ORDER BY turn_offset DESC))[1] AS last_turn_id,
        (array_agg(received_at ORDER BY turn_offset DESC))[1] AS last_received_at,
        count(*) AS turns
    FROM waiting_turns
    WHERE partition = %(partition)s
    GROUP BY subject, conversation_id
) AS conversations
WHERE last_received_at < %(moment)s
ORDER BY last_received_at, subject, conversation_id
LIMIT %(limit)s;

-- name: count_waiting
-- Count the turns of some partitions that wait, by what for, with the time that the oldest of them
-- was accepted; the caller may see all of them.
SELECT partition, cause, count(*), min(received_at)
FROM waiting_turns WHERE partition = ANY (%(partitions)b::integer[])
GROUP BY partition, cause;
