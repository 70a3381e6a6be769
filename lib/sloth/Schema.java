package sloth;

import java.io.File;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

/**
 * The file's shape, and how an older file gets it. What a row may not be, the CHECKs refuse, whoever writes it.
 *
 * <p>A file is ours by its {@code application_id}; {@code user_version} counts the migrations it has had.
 * Before a file that holds jobs is migrated, a copy is made beside it.
 */
final class Schema {

    /** "slth" */
    static final int APPLICATION_ID = 0x736c7468;
    /** Past this size the WAL is moved into the file, and cut back: twice SQLite's own, for half the waits for the disk. */
    private static final long WAL_BYTES_KEPT = 8L << 20;
    /** Of new files. A move changes three small rows, its commit writes three whole pages: half of SQLite's own size is 5 % less. */
    private static final long PAGE_BYTES = 2048;

    static final List<String> MIGRATIONS = List.of("""
        CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
        INSERT INTO meta VALUES ('uuid', lower(hex(randomblob(16))));

        CREATE TABLE batch (
          id      INTEGER PRIMARY KEY AUTOINCREMENT,
          job     TEXT NOT NULL,
          created INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE job (
          id             INTEGER PRIMARY KEY AUTOINCREMENT,     -- never used again
          job            TEXT,                                  -- a file in jobs/ ...
          command        TEXT CHECK (json_valid(command)),      -- ... or an argument vector
          args           TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(args)),
          state          TEXT NOT NULL DEFAULT 'pending' -- no IN of many: SQLite builds it anew at each row that it checks
                           CHECK (state = 'pending' OR state = 'claimed' OR state = 'done' OR state = 'failed' OR state = 'cancelled'),
          due            INTEGER NOT NULL DEFAULT 1 CHECK (due IN (0, 1)),  -- 0: waits for not_before
          not_before     INTEGER NOT NULL DEFAULT 0,            -- epoch ms; 0: as soon as possible
          delay_ms       INTEGER CHECK (delay_ms >= 0),         -- how long it was to wait; NULL: the user named the time
          priority       INTEGER NOT NULL DEFAULT 0,
          attempts       INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),  -- claims that count
          claims         INTEGER NOT NULL DEFAULT 0 CHECK (claims >= attempts), -- claims ever
          not_nows       INTEGER NOT NULL DEFAULT 0 CHECK (not_nows >= 0),  -- in a row
          max_attempts   INTEGER NOT NULL CHECK (max_attempts >= 1),
          backoff_ms     INTEGER NOT NULL CHECK (backoff_ms > 0),
          backoff_cap_ms INTEGER NOT NULL CHECK (backoff_cap_ms >= backoff_ms),
          lease_ms       INTEGER NOT NULL CHECK (lease_ms > 0),
          timeout_ms     INTEGER CHECK (timeout_ms > 0),
          stall_ms       INTEGER CHECK (stall_ms > 0),
          worker         TEXT,
          token          TEXT,
          lease_until    INTEGER,
          key            TEXT,
          batch          INTEGER REFERENCES batch (id),
          discovered     INTEGER NOT NULL DEFAULT 0 CHECK (discovered IN (0, 1)),
          content        TEXT,                                  -- digest of the file it ran, or was found with
          progress_done  INTEGER,
          progress_total INTEGER,
          progress_note  TEXT,
          message        TEXT,
          created        INTEGER NOT NULL,
          finished       INTEGER,
          CHECK ((job IS NULL) <> (command IS NULL)),
          CHECK ((state = 'claimed') = (token IS NOT NULL)),
          CHECK ((state = 'claimed') = (worker IS NOT NULL)),
          CHECK ((state = 'claimed') = (lease_until IS NOT NULL)),
          CHECK ((state = 'pending' OR state = 'claimed') = (finished IS NULL)),
          CHECK (state <> 'claimed' OR attempts >= 1)
        ) STRICT;
        -- A claim and an end change one leaf of one index: claimed rows stand just before the next one to be claimed.
        CREATE INDEX job_open ON job (state, due DESC, priority DESC, id, batch) WHERE finished IS NULL;
        CREATE INDEX job_waiting ON job (not_before) WHERE state = 'pending' AND due = 0;
        CREATE INDEX job_missed ON job (batch, state) WHERE state IN ('failed', 'cancelled');
        CREATE INDEX job_discovered ON job (job, id) WHERE discovered = 1;
        CREATE INDEX job_batch ON job (batch) WHERE batch IS NOT NULL;
        CREATE UNIQUE INDEX job_key ON job (key) WHERE key IS NOT NULL AND state IN ('pending', 'claimed');

        CREATE TABLE event (
          seq     INTEGER PRIMARY KEY,                          -- grows: the newest line is never deleted
          job     INTEGER,                                      -- NULL: the whole queue
          at      INTEGER NOT NULL,
          event   TEXT NOT NULL CHECK (event = 'added' OR event = 'claimed' OR event = 'done' OR event = 'retry' OR event = 'failed'
                    OR event = 'reclaimed' OR event = 'released' OR event = 'slept' OR event = 'lease-lost' OR event = 'cancelled'
                    OR event = 'requeued' OR event = 'clock-stepped' OR event = 'step' OR event = 'pruned'),
          attempt INTEGER,
          worker  TEXT,
          detail  TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail)),
          tx      INTEGER NOT NULL                              -- which transaction: tells an unsure commit
        ) STRICT;
        CREATE INDEX event_job ON event (job, seq);
        CREATE TRIGGER event_stays BEFORE UPDATE ON event
          BEGIN SELECT raise(ABORT, 'the ledger is only appended to'); END;
        CREATE TRIGGER event_goes_with_its_job BEFORE DELETE ON event
          WHEN old.job IS NULL OR EXISTS (SELECT 1 FROM job WHERE id = old.job)
          BEGIN SELECT raise(ABORT, 'the ledger is only appended to'); END;

        CREATE TABLE step (
          job   INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
          name  TEXT NOT NULL,
          value TEXT NOT NULL CHECK (json_valid(value)),
          PRIMARY KEY (job, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE worker (
          id      TEXT PRIMARY KEY,                             -- also its file in locks/
          host    TEXT NOT NULL,
          boot    TEXT,
          pid     INTEGER NOT NULL,
          started INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE process (                                  -- a claim's processes, until they are known to be gone
          job    INTEGER NOT NULL,
          claim  INTEGER NOT NULL,
          worker TEXT NOT NULL,
          mark   TEXT NOT NULL,                                 -- SLOTHQ_RUN in their environment
          host   TEXT NOT NULL,
          boot   TEXT,
          pid    INTEGER,                                       -- and process group; NULL until it has started
          ticks  INTEGER,                                       -- when it started, by the kernel's count
          PRIMARY KEY (job, claim)
        ) STRICT, WITHOUT ROWID;

        CREATE VIEW jobs AS
          SELECT id, coalesce(job, command) AS job, args, state, attempts || '/' || max_attempts AS attempts, priority,
                 CASE WHEN state = 'pending' AND due = 0
                   THEN strftime('%Y-%m-%d %H:%M:%S', not_before / 1000.0, 'unixepoch', 'localtime') END AS not_before,
                 strftime('%Y-%m-%d %H:%M:%S', lease_until / 1000.0, 'unixepoch', 'localtime') AS lease_until, worker, batch, message,
                 strftime('%Y-%m-%d %H:%M:%S', created / 1000.0, 'unixepoch', 'localtime') AS created,
                 strftime('%Y-%m-%d %H:%M:%S', finished / 1000.0, 'unixepoch', 'localtime') AS finished
          FROM job ORDER BY id;
        CREATE VIEW history AS
          SELECT e.seq, strftime('%Y-%m-%d %H:%M:%f', e.at / 1000.0, 'unixepoch', 'localtime') AS at, e.job AS id,
                 coalesce(j.job, j.command) AS job, e.event, e.attempt, e.worker, e.detail
          FROM event e LEFT JOIN job j ON j.id = e.job ORDER BY e.seq;
        """, """
        -- A job's lines in the ledger are a chain, newest first, and a batch is a range of ids: an index of either would
        -- be one more page to write at each move.
        ALTER TABLE job ADD COLUMN last_event INTEGER;          -- its newest line
        ALTER TABLE event ADD COLUMN previous INTEGER;          -- the line of its job before this one
        DROP TRIGGER event_stays;
        UPDATE event SET previous = (SELECT max(p.seq) FROM event p WHERE p.job = event.job AND p.seq < event.seq);
        UPDATE job SET last_event = (SELECT max(seq) FROM event WHERE event.job = job.id);
        DROP INDEX event_job;
        CREATE TRIGGER event_stays BEFORE UPDATE ON event
          BEGIN SELECT raise(ABORT, 'the ledger is only appended to'); END;
        -- A line "added" has the number that its job's row began with.
        CREATE TRIGGER event_is_the_newest_of_its_job AFTER INSERT ON event WHEN new.event <> 'added'
          BEGIN UPDATE job SET last_event = new.seq WHERE id = new.job; END;

        ALTER TABLE batch ADD COLUMN first_job INTEGER;
        ALTER TABLE batch ADD COLUMN last_job INTEGER;
        ALTER TABLE batch ADD COLUMN jobs INTEGER;              -- how many were added
        UPDATE batch SET (first_job, last_job, jobs) = (SELECT min(id), max(id), count(*) FROM job WHERE job.batch = batch.id);
        DROP INDEX job_batch;
        """);

    private Schema() {
    }

    /** Makes the connection durable and the file current. @throws SlothException when the file is not ours, or too new */
    static void apply(Db db, Path file, List<String> migrations) throws SQLException {
        recognise(db, file, migrations.size());
        db.script("PRAGMA foreign_keys = ON");
        if (!db.one("PRAGMA journal_mode", r -> r.getString(1)).orElse("").equals("wal")) {
            db.script("PRAGMA page_size = " + PAGE_BYTES);
            db.script("PRAGMA journal_mode = WAL");
        }
        db.script("PRAGMA synchronous = FULL");
        db.script("PRAGMA fullfsync = 1");
        db.script("PRAGMA wal_autocheckpoint = " + WAL_BYTES_KEPT / db.number("PRAGMA page_size"));
        db.script("PRAGMA journal_size_limit = " + WAL_BYTES_KEPT);
        if (version(db) < migrations.size()) {
            migrate(db, file, migrations);
        }
    }

    private static void recognise(Db db, Path file, int newest) throws SQLException {
        // In this order: both change in one commit of another process, and what is not empty has its id by then.
        boolean empty = db.number("SELECT count(*) FROM sqlite_schema") == 0;
        long id = db.number("PRAGMA application_id");
        if (id != APPLICATION_ID && !(id == 0 && empty)) {
            throw SlothException.unusable(file + " is a database, but not a slothq queue; move it away and run 'slothq init'", null);
        }
        if (version(db) > newest) {
            throw SlothException.unusable(file + " was written by a newer slothq (schema " + version(db) + ", this one knows "
                + newest + "); use that one", null);
        }
    }

    private static void migrate(Db db, Path file, List<String> migrations) throws SQLException {
        long from = version(db);
        if (from > 0) {
            Path copy = file.resolveSibling(file.getFileName() + ".v" + from + ".bak");
            File old = copy.toFile();
            if (!old.exists()) {
                db.run("VACUUM INTO ?", copy.toString());
            }
        }
        db.script("BEGIN IMMEDIATE");
        try {
            // Another process may have done it while this one waited for the lock.
            for (long v = version(db); v < migrations.size(); v++) {
                db.script(migrations.get((int) v));
                db.script("PRAGMA user_version = " + (v + 1));
            }
            db.script("PRAGMA application_id = " + APPLICATION_ID);
            db.script("COMMIT");
        } catch (SQLException e) {
            db.rollback(e);
            throw e;
        }
    }

    private static long version(Db db) throws SQLException {
        return db.number("PRAGMA user_version");
    }
}
