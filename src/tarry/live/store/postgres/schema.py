"""The tables in a PostgreSQL database, all in the schema `tarry`, and how they come to be.

    version     one number, the version of all that follows
    agent       an agent: its name and settings, the number and the time of its latest fact
    writer      a process that has it open: the number of its latest batch of facts
    fact        what happened, in one order per agent; append-only, the oldest are deleted
    arm         the names of the arms, by slot
    snapshot    evidence after fact number `seq`, compressed
    history     plays that ended long ago, in chunks, compressed
    play        a view for analysts: one row per play with what became of it

The time of an agent is the clock of the database in microseconds since the agent was made, plus a
shift that keeps it from going back when that clock does.

A fact's number is given out under the lock of the agent's row, so facts become visible in their
order. To hold that lock while the disk is written would make all processes wait for each other's
disk: facts are committed without waiting, and the disk is waited for in a transaction after that.
"""

from typing import Any, LiteralString

from tarry.live.store.postgres.leased_view import LEASED_VIEW

VERSION = 2
LOCK = 0x74617272  # of who makes or changes the tables
NEWEST = 5  # snapshots that are looked at; the two newest are kept

TABLES: LiteralString = """
CREATE SCHEMA IF NOT EXISTS tarry;
CREATE TABLE tarry.version (version int NOT NULL);
INSERT INTO tarry.version VALUES (1);
CREATE TABLE tarry.agent (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    settings jsonb NOT NULL,
    created bigint NOT NULL,             -- microseconds since 1970, UTC: tick 0
    seq bigint NOT NULL DEFAULT 0,       -- of the latest fact
    time bigint NOT NULL DEFAULT 0,      -- the latest tick, which never goes back
    shift bigint NOT NULL DEFAULT 0,     -- ticks by which the clock was set back
    snapshot bigint NOT NULL DEFAULT 0   -- the fact after which the latest one was made
) WITH (fillfactor = 50);
CREATE TABLE tarry.writer (
    id bigint PRIMARY KEY,
    agent int NOT NULL REFERENCES tarry.agent ON DELETE CASCADE,
    host text NOT NULL,
    pid int NOT NULL,
    opened timestamptz NOT NULL DEFAULT now(),
    seen timestamptz NOT NULL DEFAULT now(),
    closed boolean NOT NULL DEFAULT false,
    batch bigint NOT NULL DEFAULT 0,     -- the latest one that was appended
    first bigint NOT NULL DEFAULT 0      -- the number of the fact before it
) WITH (fillfactor = 50);
CREATE TABLE tarry.fact (
    agent int NOT NULL,
    kind smallint NOT NULL,              -- see tarry.live.facts
    seq bigint NOT NULL,
    time bigint NOT NULL,                -- ticks; not in the order of seq
    play bigint,                         -- the id of the play
    value bigint,                        -- the slot of its arm, or how long it took
    name text,                           -- of an arm; of a start, the context as JSON
    PRIMARY KEY (agent, seq)
);
CREATE TABLE tarry.arm (
    agent int NOT NULL REFERENCES tarry.agent ON DELETE CASCADE,
    slot int NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (agent, slot)
);
CREATE TABLE tarry.snapshot (
    agent int NOT NULL REFERENCES tarry.agent ON DELETE CASCADE,
    seq bigint NOT NULL,
    crc bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (agent, seq)
);
CREATE TABLE tarry.history (
    agent int NOT NULL REFERENCES tarry.agent ON DELETE CASCADE,
    first bigint NOT NULL,
    crc bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (agent, first)
);
CREATE VIEW tarry.play AS
    WITH ended AS (
        SELECT DISTINCT ON (agent, play) agent, play, kind, time, value
        FROM tarry.fact WHERE kind IN (2, 3, 4) ORDER BY agent, play, seq
    )
    SELECT a.name AS agent, s.play AS id, arm.name AS arm,
        to_timestamp((a.created + s.time) / 1e6) AS started,
        CASE WHEN d.closed THEN 'closed' ELSE
            coalesce((ARRAY['returned', 'cancelled', 'failed'])[e.kind - 1], 'out') END AS status,
        CASE WHEN d.closed THEN d.longest ELSE
            least(CASE WHEN e.kind = 2 THEN coalesce(e.value, e.time - s.time)
                ELSE e.time - s.time END, d.longest) END / 1e6 AS seconds,
        s.name AS context
    FROM tarry.fact s
    JOIN tarry.agent a ON a.id = s.agent
    LEFT JOIN ended e ON e.agent = s.agent AND e.play = s.play
    LEFT JOIN tarry.arm ON arm.agent = s.agent AND arm.slot = s.value
    CROSS JOIN LATERAL (SELECT (a.settings ->> 'max_delay')::bigint AS longest,
        coalesce(e.time, a.time) - s.time >= (a.settings ->> 'max_delay')::bigint AS closed) d
    WHERE s.kind = 1 AND s.value >= 0;

CREATE FUNCTION tarry.clock(created bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - created';

-- Append a batch of facts, unless it is there already; wait for the disk if it is to be safe; and
-- return what was appended after fact number `after`.
CREATE PROCEDURE tarry.turn(
    agent_ int, writer_ bigint, batch_ bigint,
    kinds smallint[], times bigint[], plays bigint[], vals bigint[], names text[],
    after_ bigint, most int, safe boolean, given bigint,
    INOUT now_ bigint, INOUT first_ bigint, INOUT snapshot_ bigint, INOUT next_ bigint,
    INOUT kinds_ smallint[], INOUT times_ bigint[], INOUT plays_ bigint[], INOUT values_ bigint[],
    INOUT names_ text[]
) LANGUAGE plpgsql AS $$
DECLARE
    count int := coalesce(cardinality(kinds), 0);
    known bigint;
    made bigint;
BEGIN
    SELECT created INTO made FROM tarry.agent WHERE id = agent_;
    IF count > 0 THEN
        PERFORM set_config('synchronous_commit', 'off', true);
        SELECT batch, first INTO known, first_ FROM tarry.writer WHERE id = writer_ FOR UPDATE;
        IF known IS NULL OR known < batch_ - 1 THEN
            RAISE 'tarry: writer % is not at batch %', writer_, batch_ USING ERRCODE = 'TA001';
        END IF;
        IF known = batch_ - 1 THEN
            now_ := coalesce(given, tarry.clock(made));
            UPDATE tarry.agent SET seq = seq + count, time = greatest(time, now_ + shift),
                shift = greatest(shift, time - now_)
                WHERE id = agent_ RETURNING seq - count, time INTO first_, now_;
            IF names IS NULL THEN
                INSERT INTO tarry.fact
                    SELECT agent_, k, first_ + o, least(t, now_), p, v, NULL
                    FROM unnest(kinds, times, plays, vals) WITH ORDINALITY AS f(k, t, p, v, o);
            ELSE
                INSERT INTO tarry.fact
                    SELECT agent_, k, first_ + o, least(t, now_), p, v, n
                    FROM unnest(kinds, times, plays, vals, names)
                        WITH ORDINALITY AS f(k, t, p, v, n, o);
            END IF;
            UPDATE tarry.writer SET batch = batch_, first = first_, seen = now()
                WHERE id = writer_;
        END IF;
        COMMIT;
    END IF;
    IF safe THEN
        PERFORM pg_logical_emit_message(true, 'tarry', '');
        COMMIT;
    END IF;
    SELECT greatest(time, coalesce(given, tarry.clock(made)) + shift), snapshot
        INTO now_, snapshot_ FROM tarry.agent WHERE id = agent_;
    SELECT min(seq), array_agg(kind), array_agg(time), array_agg(play), array_agg(value),
        CASE WHEN count(name) > 0 THEN array_agg(name) END
        INTO next_, kinds_, times_, plays_, values_, names_
        FROM (SELECT seq, kind, time, play, value, name FROM tarry.fact
            WHERE agent = agent_ AND seq > after_ ORDER BY seq LIMIT most) f;
END $$;
"""

CHANGES: list[LiteralString] = [TABLES, LEASED_VIEW]  # from version k to version k + 1

TURN: LiteralString = (
    "CALL tarry.turn(%s, %s, %s, %s::smallint[], %s::bigint[], %s::bigint[], %s::bigint[], "
    "%s::text[], %s, %s, %s, %s, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)


TABLE_IS_THERE: LiteralString = (
    "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = 'tarry' AND c.relname = 'version'"
)


def found_version(db: Any) -> int:
    """The version of the tables that are there; 0 if there are none.

    By a query of the catalogue: to_regclass answers from a cache of the session, and goes on saying
    that there is no such schema after another process has made it.
    """
    if db.execute(TABLE_IS_THERE).fetchone() is None:
        return 0
    row = db.execute("SELECT version FROM tarry.version").fetchone()
    return 0 if row is None else int(row[0])


def bring_up_to_date(db: Any) -> int:
    """Make or change the tables, one process at a time; the version that was found."""
    found = found_version(db)
    if found >= VERSION:
        return found
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        found = found_version(db)
        for change in CHANGES[found:]:
            db.execute(change)
        if found:
            db.execute("UPDATE tarry.version SET version = %s", (VERSION,))
    return found
