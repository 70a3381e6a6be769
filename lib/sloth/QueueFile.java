package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * The queue's file, and the two ways to use it: a {@link #move} is one durable transaction under the write lock, which
 * is told the time; a {@link #look} only reads. A move that returned is in the file. One that threw is not, but for a commit
 * of which nobody can tell: then it threw an I/O error.
 *
 * <p>Safe for use by several threads: one at a time.
 */
final class QueueFile implements AutoCloseable {

    /** Where connections come from, so that a test can hand out ones that fail. */
    interface Source {
        Connection connect() throws SQLException;
    }

    /** What a connection is for. */
    enum Use { MOVES, HEARTBEATS, LOOKS }

    interface Move<T> {
        /** @param now epoch ms */
        T at(long now) throws SQLException;
    }

    interface Look<T> {
        T read() throws SQLException;
    }

    /** A heartbeat that waited longer would look like time that went by without us; the next beat tries again. */
    private static final Duration HEARTBEAT_BUSY_MOST = Duration.ofSeconds(1);

    private static final String UUID_NAME = "uuid";
    /** To tidy up is not worth a wait for those who read. */
    private static final Duration TIDY_BUSY_MOST = Duration.ofMillis(50);

    private final Path path;
    private final Source source;
    private final Clock clock;
    private final Use use;
    private Db db;
    private Ledger ledger;
    private Roster roster;
    private Object fileKey;
    private String uuid;
    private boolean moving;
    private boolean stale;
    private long movingAt;

    QueueFile(Path path, Source source, Clock clock, Use use) {
        NativeLibrary.unpackOnce();
        this.path = path;
        this.source = source;
        this.clock = clock;
        this.use = use;
        connect();
    }

    /** For use inside a move or a look, as are {@link #ledger} and {@link #roster}: a reconnect makes new ones. */
    Db db() {
        return db;
    }

    Ledger ledger() {
        return ledger;
    }

    Roster roster() {
        return roster;
    }

    /** Given when the file was made. */
    String uuid() {
        return uuid;
    }

    /** Gives it another uuid, in a move. */
    void rename() throws SQLException {
        uuid = UUID.randomUUID().toString();
        setMeta(UUID_NAME, uuid);
    }

    Optional<String> meta(String name) throws SQLException {
        return db.one("SELECT value FROM meta WHERE name = ?", r -> r.getString(1), name);
    }

    void setMeta(String name, String value) throws SQLException {
        db.run("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value);
    }

    /** Epoch ms. */
    long now() {
        return clock.millis();
    }

    /** Several moves as one transaction: all of them, or none. */
    synchronized <T> T together(Supplier<T> moves) {
        return move(now -> moves.get());
    }

    synchronized <T> T move(Move<T> move) {
        try {
            if (moving) {
                return move.at(movingAt);
            }
            begin();
            T result;
            try {
                mindTheClock(ledger.begin(), movingAt);
                result = move.at(movingAt);
            } catch (SQLException | RuntimeException | Error e) {
                undo(e);
                throw e;
            } finally {
                moving = false;
            }
            commit();
            return result;
        } catch (SQLException e) {
            throw Trouble.of(path, e);
        }
    }

    private void freshen() {
        if (stale && !moving) {
            checkFile();
            closeQuietly();
            connect();
            stale = false;
        }
    }

    /** What cannot even be undone may still be open: then the next move or look starts on a fresh connection. */
    private void undo(Throwable first) {
        stale = !db.rollback(first);
    }

    private void begin() throws SQLException {
        checkFile();
        freshen();
        // The write lock first, and then the clock: so the ledger's times go back only when the clock does.
        try {
            db.run("BEGIN IMMEDIATE");
        } catch (SQLException e) {
            // Should it have begun all the same, the next one could not. What was busy has not.
            if (!Trouble.isBusy(e)) {
                undo(e);
            }
            throw e;
        }
        movingAt = clock.millis();
        moving = true;
    }

    private void commit() throws SQLException {
        try {
            db.run("COMMIT");
        } catch (SQLException e) {
            // It may be in the file all the same: say that it failed only after a look with fresh eyes.
            reconnect(e);
            if (!isInFile(e)) {
                throw e;
            }
        }
    }

    private boolean isInFile(SQLException first) {
        try {
            return ledger.holdsOurs();
        } catch (SQLException second) {
            first.addSuppressed(second);
            return false;
        }
    }

    private void reconnect(SQLException first) throws SQLException {
        try {
            Ledger pending = ledger;
            checkFile();
            db.rollback(first);
            db.close();
            connect();
            ledger = pending.on(db);
        } catch (SQLException | SlothException second) {
            stale = true;
            first.addSuppressed(second);
            throw first;
        }
    }

    /**
     * When the newest event lies in the future, the clock was set back. Then whatever waits, waits at most its own length
     * from now. A time that the user named stays. Never "the largest time ever seen": one wrong date would poison the
     * queue for years.
     */
    private void mindTheClock(long newest, long now) throws SQLException {
        if (newest <= now) {
            return;
        }
        db.run("UPDATE job SET not_before = ? + delay_ms WHERE state = 'pending' AND due = 0 AND not_before > ? + delay_ms", now, now);
        capLeases(now);
        ledger.write(now, null, "clock-stepped", null, null, Map.of("ms", now - newest));
    }

    void capLeases(long now) throws SQLException {
        db.run("""
            UPDATE job SET lease_until = ? + lease_ms
            WHERE state = 'claimed' AND finished IS NULL AND lease_until > ? + lease_ms""", now, now);
    }

    synchronized <T> T look(Look<T> look) {
        try {
            freshen();
            return look.read();
        } catch (SQLException e) {
            throw Trouble.of(path, e);
        }
    }

    /** What a transaction reads does not change under it. */
    synchronized <T> T atOnce(Supplier<T> looks) {
        return look(() -> {
            db.run("BEGIN");
            try {
                return looks.get();
            } finally {
                db.run("COMMIT");
            }
        });
    }

    private void connect() {
        try {
            db = new Db(source.connect());
            db.waitWithJitter(busyMost());
            Schema.apply(db, path, Schema.MIGRATIONS);
            switch (use) {
                case MOVES -> { }
                case HEARTBEATS -> db.script("PRAGMA synchronous = NORMAL");
                case LOOKS -> db.script("PRAGMA query_only = 1");
            }
            ledger = new Ledger(db);
            roster = new Roster(db);
            String found = meta(UUID_NAME).orElseThrow();
            if (uuid != null && !uuid.equals(found)) {
                throw SlothException.unusable(path + " was replaced by another queue while it was in use;"
                    + " put it back, or start again with this one", null);
            }
            uuid = found;
            fileKey = fileKey();
        } catch (SQLException e) {
            closeQuietly();
            throw Trouble.of(path, e);
        } catch (SlothException e) {
            closeQuietly();
            throw e;
        }
    }

    /**
     * In WAL mode SQLite reports success for writes into a file that was deleted or replaced under it. So each move first
     * asks whether the path still leads to the file that was opened.
     */
    private void checkFile() {
        if (!Objects.equals(fileKey, fileKey())) {
            throw SlothException.unusable(path + " was moved, deleted or replaced while it was in use; nothing more is written to it."
                + " Put it back, or start again where it is now", null);
        }
    }

    private Object fileKey() {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        } catch (IOException e) {
            return null;
        }
    }

    private void closeQuietly() {
        try {
            if (db != null) {
                db.close();
            }
        } catch (SQLException e) {
            // The error that led here is the one to report.
        }
    }

    /** A copy that is a working queue, while others work on. @throws SlothException when the file is there already */
    synchronized void backup(Path copy) {
        if (Files.exists(copy)) {
            throw SlothException.refused(copy + " is there already; name another file");
        }
        Path into = copy.toAbsolutePath().getParent();
        if (!Files.isDirectory(into)) {
            throw SlothException.refused("no folder " + into + "; make it first");
        }
        // Half a copy must not be taken for a backup.
        Path part = copy.resolveSibling(copy.getFileName() + "." + UUID.randomUUID() + ".part").toAbsolutePath();
        try {
            db.run("VACUUM INTO ?", part.toString());
            Files.move(part, copy);
        } catch (SQLException e) {
            throw Trouble.of(Trouble.isDamage(e) ? path : copy.toAbsolutePath(), e);
        } catch (IOException e) {
            throw Trouble.of(copy.toAbsolutePath(), e);
        } finally {
            part.toFile().delete();
        }
    }

    private Duration busyMost() {
        return use == Use.HEARTBEATS ? HEARTBEAT_BUSY_MOST : Db.BUSY_MOST;
    }

    /** Moves what the WAL holds into the file, and cuts it to nothing, unless somebody else is at work. */
    void tidy() {
        look(() -> {
            db.waitWithJitter(TIDY_BUSY_MOST);
            try {
                return db.number("PRAGMA wal_checkpoint(TRUNCATE)");
            } finally {
                db.waitWithJitter(busyMost());
            }
        });
    }

    @Override public synchronized void close() {
        closeQuietly();
    }
}
