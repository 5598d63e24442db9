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
-- accepted before a moment, the longest quiet first, behind one of them; the caller may see all of
-- them. OFFSET 0 keeps the rows in the index's order, and LIMIT 1 the question for a later turn a
-- probe of its own: both hold without statistics, and none is asked for rows behind the limit.
SELECT
    ending.subject, ending.conversation_id,
    (
        SELECT turn_id FROM waiting_turns AS waiting
        WHERE waiting.subject = ending.subject
            AND waiting.conversation_id = ending.conversation_id
        ORDER BY turn_offset
        LIMIT 1
    ) AS first_turn_id,
    ending.turn_id AS last_turn_id,
    ending.received_at AS last_received_at,
    (
        SELECT count(*) FROM waiting_turns AS waiting
        WHERE waiting.subject = ending.subject
            AND waiting.conversation_id = ending.conversation_id
    ) AS turns
FROM (
    SELECT subject, conversation_id, turn_id, turn_offset, received_at
    FROM waiting_turns
    WHERE partition = %(partition)s
        AND received_at < %(moment)s
        AND (
            %(after_received_at)s::timestamptz IS NULL
            OR (received_at, subject, conversation_id COLLATE "C")
            > (
                %(after_received_at)s::timestamptz,
                %(after_subject)s::uuid,
                %(after_conversation_id)s::text
            )
        )
    ORDER BY received_at, subject, conversation_id COLLATE "C"
    OFFSET 0
) AS ending
WHERE (
    SELECT true FROM waiting_turns AS later
    WHERE later.subject = ending.subject
        AND later.conversation_id = ending.conversation_id
        AND later.turn_offset > ending.turn_offset
    LIMIT 1
) IS NULL
ORDER BY ending.received_at, ending.subject, ending.conversation_id COLLATE "C"
LIMIT %(limit)s;

-- name: count_waiting
-- Count the turns of some partitions that wait, by what for, with the time that the oldest of them
-- was accepted; the caller may see all of them.
SELECT partition, cause, count(*), min(received_at)
FROM waiting_turns WHERE partition = ANY (%(partitions)b::integer[])
GROUP BY partition, cause;
