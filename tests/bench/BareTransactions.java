package sloth;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Iterator;
import java.util.List;

/**
 * The least that the same driver can do for the same durability: one prepared UPDATE of one row, committed by itself;
 * and rows of one text column, many in one transaction.
 */
final class BareTransactions implements AutoCloseable {

    private final Connection connection;
    private final PreparedStatement update;

    BareTransactions(Path file) throws SQLException {
        connection = Db.connect(file);
        durable(connection);
        try (var s = connection.createStatement()) {
            s.executeUpdate("CREATE TABLE bare (id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT");
            s.executeUpdate("CREATE TABLE line (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
            s.executeUpdate("INSERT INTO bare VALUES (1, 0)");
        }
        update = connection.prepareStatement("UPDATE bare SET n = n + 1 WHERE id = 1");
    }

    /** As the queue opens its own file. */
    static void durable(Connection c) throws SQLException {
        try (var s = c.createStatement()) {
            s.execute("PRAGMA journal_mode = WAL");
            s.executeUpdate("PRAGMA synchronous = FULL");
            s.executeUpdate("PRAGMA fullfsync = 1");
            s.executeUpdate("PRAGMA wal_autocheckpoint = 2048");
        }
    }

    void commit(int times) throws SQLException {
        for (int i = 0; i < times; i++) {
            update.executeUpdate();
        }
    }

    void insertAll(Iterator<String> lines) throws SQLException {
        try (var s = connection.createStatement(); var insert = connection.prepareStatement("INSERT INTO line (text) VALUES (?)")) {
            s.executeUpdate("BEGIN IMMEDIATE");
            while (lines.hasNext()) {
                insert.setString(1, lines.next());
                insert.executeUpdate();
            }
            s.executeUpdate("COMMIT");
        }
    }

    /** The rows that the queue has for these lines, in its own tables. */
    void insertJobs(Iterator<String> lines) throws SQLException {
        long now = System.currentTimeMillis();
        try (var s = connection.createStatement();
             var job = connection.prepareStatement("""
                INSERT INTO job (job, args, max_attempts, backoff_ms, backoff_cap_ms, lease_ms, batch, created, last_event)
                VALUES ('thumbs.java', ?, 4, 2000, 3600000, 60000, ?, ?, ?)""");
             var event = connection.prepareStatement(
                "INSERT INTO event (seq, job, at, event, tx) VALUES (?, last_insert_rowid(), ?, 'added', 1)")) {
            s.executeUpdate("BEGIN IMMEDIATE");
            s.executeUpdate("INSERT INTO batch (job, created) VALUES ('thumbs.java', " + now + ")");
            long batch = number("SELECT max(id) FROM batch");
            long seq = number("SELECT max(seq) FROM event");
            while (lines.hasNext()) {
                seq++;
                job.setString(1, Json.text(List.of(lines.next())));
                job.setLong(2, batch);
                job.setLong(3, now);
                job.setLong(4, seq);
                job.executeUpdate();
                event.setLong(1, seq);
                event.setLong(2, now);
                event.executeUpdate();
            }
            s.executeUpdate("COMMIT");
        }
    }

    private long number(String query) throws SQLException {
        try (var s = connection.createStatement(); var r = s.executeQuery(query)) {
            return r.getLong(1);
        }
    }

    @Override public void close() throws SQLException {
        connection.close();
    }
}
