"""The view for analysts since there are leases: version 2 of the tables.

Of an agent with a lease, a play is as old as was last reported of it. What time brought (it has
vanished, or is void) is worked out from the latest word of it, as the replicas do; that they give
leases more time where nobody could be heard is left out here.

Of starts with the same key only the first is a play (`tarry.live.requests` says how keys are kept).

A play that nobody ends is closed when it is D old by the clock, also if nobody writes any more. A
cancellation is in vain if it reaches the log when the play counts as closed already; the time at
which replicas read a fact is the latest of all up to there.
"""

from typing import LiteralString

LEASED_VIEW: LiteralString = """
UPDATE tarry.version SET version = 2;
CREATE OR REPLACE VIEW tarry.play AS
    WITH dated AS (
        SELECT agent, seq, kind, play,
            max(time) OVER (PARTITION BY agent ORDER BY seq ROWS UNBOUNDED PRECEDING) AS now
        FROM tarry.fact
    ), vain AS (
        SELECT c.agent, c.seq FROM dated c
        JOIN dated s ON s.agent = c.agent AND s.play = c.play AND s.kind = 1
        JOIN tarry.agent a ON a.id = c.agent
        WHERE c.kind = 3 AND a.settings -> 'lease' IS NULL
            AND c.now - s.now > (a.settings ->> 'max_delay')::bigint
    ), ended AS (
        SELECT DISTINCT ON (agent, play) agent, play, kind, time, value
        FROM tarry.fact f WHERE kind IN (2, 3, 4)
            AND NOT EXISTS (SELECT 1 FROM vain v WHERE v.agent = f.agent AND v.seq = f.seq)
        ORDER BY agent, play, f.seq
    ), heard AS (
        SELECT agent, play, max(time) AS time, max(value) FILTER (WHERE kind = 12) AS reported
        FROM tarry.fact WHERE kind IN (1, 12) GROUP BY agent, play
    )
    SELECT a.name AS agent, s.play AS id, arm.name AS arm,
        to_timestamp((a.created + s.time) / 1e6) AS started,
        CASE WHEN w.closed THEN 'closed'
            WHEN w.silent AND h.reported IS NULL THEN 'void'
            WHEN w.silent THEN 'vanished'
            ELSE coalesce((ARRAY['returned', 'cancelled', 'failed'])[e.kind - 1], 'out')
            END AS status,
        CASE WHEN w.closed THEN d.longest
            WHEN w.silent THEN (h.reported + least(h.reported + d.beat, d.longest)) / 2
            WHEN d.length IS NOT NULL THEN
                CASE WHEN e.kind = 2 THEN least(greatest(e.value, h.reported), d.longest)
                    ELSE coalesce(h.reported, 0) END
            WHEN e.kind = 2 THEN least(coalesce(e.value, e.time - s.time), d.longest)
            WHEN e.kind IS NOT NULL THEN least(e.time - s.time, d.longest) END / 1e6 AS seconds,
        s.context AS context
    FROM (
        SELECT agent, time, play, value,
            CASE WHEN name LIKE '#%' THEN nullif(split_part(name, chr(10), 2), '')
                ELSE name END AS context,
            name LIKE '#%' AND row_number() OVER (
                PARTITION BY agent, split_part(name, chr(10), 1) ORDER BY seq) > 1 AS again
        FROM tarry.fact WHERE kind = 1 AND value >= 0
    ) s
    JOIN tarry.agent a ON a.id = s.agent
    JOIN heard h ON h.agent = s.agent AND h.play = s.play
    LEFT JOIN ended e ON e.agent = s.agent AND e.play = s.play
    LEFT JOIN tarry.arm ON arm.agent = s.agent AND arm.slot = s.value
    CROSS JOIN LATERAL (SELECT (a.settings ->> 'max_delay')::bigint AS longest,
        (a.settings -> 'lease' ->> 0)::bigint AS length,
        (a.settings -> 'lease' ->> 1)::bigint AS beat) d
    CROSS JOIN LATERAL (SELECT
        CASE WHEN d.length IS NULL THEN coalesce(e.time,
                greatest(a.time, tarry.clock(a.created) + a.shift)) - s.time >= d.longest
            ELSE coalesce(h.reported >= d.longest, false) END AS closed,
        coalesce(coalesce(e.time, a.time) - h.time >= d.length, false) AS silent) w
    WHERE s.again IS NOT TRUE;
"""
