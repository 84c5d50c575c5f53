// PostgresSchema is the tables of a journal in PostgreSQL. migration.ts makes them.
//
// Invariants
// - The schema of a format never changes; another schema is another format, with a step in migration.ts.
// - All texts that are compared or ordered are compared byte by byte (collation "C"), whatever the database's own collation is.
// - JSON is stored as text, byte for byte.
import { SLICE_COUNT } from '@svc/model/slice';

/** The PostgreSQL schema that holds the tables. */
export const SCHEMA = 'svc';
/** The format of the tables. A journal of another one is refused. */
export const JOURNAL_FORMAT = 1;
/** The format of a journal into which another one is being copied, until it is complete. No service opens it. */
export const UNFINISHED_FORMAT = 0;

/** The statements that make the tables of an empty journal. */
export const TABLES: readonly string[] = [
  // `version` is raised whenever a node or the owner of a slice changes. `history` identifies the server and its timeline; after it
  // has changed, nothing is taken from a node until `takeover_from`. `work` is raised whenever an operator has changed lanes.
  `CREATE TABLE svc.cluster (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    id text NOT NULL,
    format integer NOT NULL,
    hash_version integer NOT NULL,
    slices integer NOT NULL,
    version bigint NOT NULL DEFAULT 0,
    work bigint NOT NULL DEFAULT 0,
    history text COLLATE "C" NOT NULL DEFAULT '',
    takeover_from timestamptz NOT NULL DEFAULT clock_timestamp()
  )`,
  // A row for each run of a runtime that uses the journal. It owns slices until the lease ends, by the clock of the database.
  // `renewals` counts the renewals of the lease, so that a copy of a running node is noticed. An exclusive node lets no other join.
  // `control` is the socket by which tools of the same machine reach it.
  `CREATE TABLE svc.node (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    uid text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    joined timestamptz NOT NULL DEFAULT clock_timestamp(),
    lease_until timestamptz NOT NULL,
    renewals bigint NOT NULL DEFAULT 0,
    is_exclusive boolean NOT NULL,
    machine text NOT NULL,
    host text,
    port integer,
    version text NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    control text
  )`,
  // `head` is the number of the slice's last record, `commits` how often something was stored for its entities. Each commit
  // updates rows of this table in place: the space that is left free keeps the new versions in the same page.
  `CREATE TABLE svc.slice (
    slice smallint PRIMARY KEY,
    owner bigint,
    epoch bigint NOT NULL DEFAULT 0,
    head bigint NOT NULL DEFAULT 0,
    commits bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 40)`,
  `INSERT INTO svc.slice (slice) SELECT generate_series(0, ${SLICE_COUNT - 1})`,
  `CREATE TABLE svc.module (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fingerprint text COLLATE "C" NOT NULL,
    descriptor text NOT NULL,
    time_ms bigint NOT NULL
  )`,
  `CREATE TABLE svc.journal (
    slice smallint NOT NULL,
    off bigint NOT NULL,
    component text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    time_ms bigint NOT NULL,
    manifest text COLLATE "C",
    event text,
    seed bigint,
    trace text,
    key text COLLATE "C",
    by text,
    module integer,
    crc bigint NOT NULL,
    tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (slice, off)
  )`,
  'CREATE UNIQUE INDEX journal_entity ON svc.journal (slice, component, id, seq)',
  // Finds the last deletion of an entity, which few entities have.
  'CREATE INDEX journal_deletion ON svc.journal (slice, component, id, seq) WHERE kind = 1',
  // The types of events that are stored, so that nobody has to look for them in all records.
  `CREATE TABLE svc.event_type (
    component text COLLATE "C" NOT NULL,
    manifest text COLLATE "C" NOT NULL,
    PRIMARY KEY (component, manifest)
  )`,
  // `stored_ms` is the time by the clock of the database.
  `CREATE TABLE svc.reply (
    slice smallint NOT NULL,
    component text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    digest text NOT NULL,
    time_ms bigint NOT NULL,
    outcome text NOT NULL,
    crc bigint NOT NULL,
    stored_ms bigint NOT NULL,
    PRIMARY KEY (slice, component, id, key)
  )`,
  'CREATE INDEX reply_age ON svc.reply (stored_ms, slice, component, id, key)',
  `CREATE TABLE svc.snapshot (
    slice smallint NOT NULL,
    component text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    state text NOT NULL,
    crc bigint NOT NULL,
    stored_ms bigint NOT NULL,
    PRIMARY KEY (slice, component, id, fingerprint)
  )`,
  // A timer without owner is a schedule of the service. Numbers come from `timer_number`, because the checksum covers them.
  `CREATE TABLE svc.timer (
    number bigint PRIMARY KEY,
    owner_component text COLLATE "C",
    owner_id text COLLATE "C",
    name text COLLATE "C" NOT NULL,
    target_slice smallint NOT NULL,
    target_component text COLLATE "C" NOT NULL,
    target_id text COLLATE "C" NOT NULL,
    command text NOT NULL,
    input text NOT NULL,
    schedule text,
    due_ms bigint NOT NULL,
    next_ms bigint,
    attempts bigint NOT NULL,
    attempts_max bigint,
    fault text,
    set_ms bigint NOT NULL,
    trace_parent text,
    crc bigint NOT NULL,
    CHECK ((owner_component IS NULL) = (owner_id IS NULL))
  )`,
  'CREATE SEQUENCE svc.timer_number OWNED BY svc.timer.number',
  'CREATE UNIQUE INDEX timer_owner ON svc.timer (owner_component, owner_id, name) WHERE owner_id IS NOT NULL',
  'CREATE UNIQUE INDEX timer_schedule ON svc.timer (name) WHERE owner_id IS NULL',
  'CREATE INDEX timer_due ON svc.timer (next_ms, number) WHERE next_ms IS NOT NULL',
  'CREATE INDEX timer_dead ON svc.timer (number) WHERE next_ms IS NULL',
  // The sum of all parts is the number of timers. A transaction adds to the part of a slice that it has locked, so that writers do
  // not wait for each other; operators, who own no slice, add to part -1.
  `CREATE TABLE svc.timer_count (
    part smallint PRIMARY KEY,
    timers bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 40)`,
  `INSERT INTO svc.timer_count (part) SELECT generate_series(-1, ${SLICE_COUNT - 1})`,
  `CREATE TABLE svc.consumer (
    consumer text COLLATE "C" PRIMARY KEY,
    start text NOT NULL,
    crc bigint NOT NULL
  )`,
  `CREATE TABLE svc.consumer_offset (
    consumer text COLLATE "C" NOT NULL,
    slice smallint NOT NULL,
    off bigint NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (consumer, slice)
  ) WITH (fillfactor = 40)`,
  `CREATE TABLE svc.lane (
    consumer text COLLATE "C" NOT NULL,
    slice smallint NOT NULL,
    component text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    attempts bigint NOT NULL,
    round bigint NOT NULL,
    next_ms bigint,
    reason text,
    crc bigint NOT NULL,
    PRIMARY KEY (consumer, slice, component, id)
  )`,
  // Numbers of the tables of rows, epochs of writers, and versions. Each is given once.
  'CREATE SEQUENCE svc.view_number',
  // The rows of a definition are in the table `view_rows_<number>`. Texts with a checksum are made by views/sealed-text.ts.
  `CREATE TABLE svc.view_definition (
    definition text COLLATE "C" PRIMARY KEY,
    format integer NOT NULL,
    view text COLLATE "C" NOT NULL,
    row_type text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    version bigint NOT NULL,
    is_live boolean NOT NULL DEFAULT false,
    row_count bigint NOT NULL DEFAULT 0,
    text_bytes bigint NOT NULL DEFAULT 0,
    folded_to text,
    layout text NOT NULL,
    skips text NOT NULL,
    used_ms bigint NOT NULL,
    owner text,
    epoch bigint NOT NULL,
    lease_until timestamptz
  ) WITH (fillfactor = 40)`,
];
