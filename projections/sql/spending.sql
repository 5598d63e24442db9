-- What asking models has cost.

-- name: select_spending
-- Return the sums of all partitions from a day on, of one tenant or of every one that may be seen.
SELECT
    day, tenant, extractor, model, sum(closings)::bigint, sum(turns)::bigint, sum(calls)::bigint,
    sum(input_tokens)::bigint, sum(output_tokens)::bigint, sum(cache_read_tokens)::bigint,
    sum(cache_write_tokens)::bigint
FROM spending
WHERE day >= %(since)s AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s::text)
GROUP BY day, tenant, extractor, model
ORDER BY day, tenant, extractor, model;
