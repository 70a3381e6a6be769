package sloth;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.sqlite.BusyHandler;
import org.sqlite.JDBC;
import org.sqlite.SQLiteConnection;

/**
 * A connection with its statements kept, and nothing of queues. Transactions are begun and ended by statements: the driver's
 * own ones take the next write lock as soon as they have committed the last one. One thread at a time.
 */
final class Db implements AutoCloseable {

    /** Whoever waits for the write lock gives up after this. */
    static final Duration BUSY_MOST = Duration.ofSeconds(15);
    private static final int STATEMENTS_KEPT = 64;

    interface Row<T> {
        T read(ResultSet r) throws SQLException;
    }

    private final Connection connection;
    private final Map<String, PreparedStatement> kept = new LinkedHashMap<>(STATEMENTS_KEPT, 0.75f, true);

    Db(Connection connection) {
        this.connection = connection;
        // SQLite commits by itself what stands alone. Told that it has to, the driver would try a BEGIN and a COMMIT after
        // each statement: 5 % of a move.
        ((SQLiteConnection) connection).getConnectionConfig().setAutoCommit(false);
    }

    /** The first connection takes the driver 0.1 s. What fails here fails again where somebody hears of it. */
    static void loadDriver() {
        try {
            NativeLibrary.unpackOnce();
            inMemory().close();
        } catch (SQLException | RuntimeException | LinkageError e) {
            // Whoever opens a queue will be told.
        }
    }

    /** The URI form, so that a {@code ?} or {@code %} in a folder's name stays a part of the name. */
    static Connection connect(Path file, String... flags) throws SQLException {
        Properties properties = new Properties();
        // Else the driver asks for the row id after each INSERT, and that statement stays open: a VACUUM finds it in its way.
        properties.setProperty("jdbc.get_generated_keys", "false");
        String uri = file.toUri().toString().replace("file:///", "file:/");
        return connect(uri + (flags.length == 0 ? "" : "?" + String.join("&", flags)), properties);
    }

    /** An empty database that is gone with its connection. */
    static Connection inMemory() throws SQLException {
        return connect(":memory:", new Properties());
    }

    private static Connection connect(String what, Properties properties) throws SQLException {
        try {
            return JDBC.createConnection("jdbc:sqlite:" + what, properties);
        } catch (UnsatisfiedLinkError e) {
            // The driver tells it as an exception once, and at each later try goes on without its library.
            throw new SQLException("no native library", e);
        }
    }

    /**
     * Waits for a lock in small random steps. SQLite's own wait doubles to 100 ms, and under load the same process
     * loses again and again. Set it after any busy timeout: that would replace it.
     */
    void waitWithJitter(Duration most) throws SQLException {
        BusyHandler.setHandler(connection, new BusyHandler() {
            private long since;

            @Override protected int callback(int calls) {
                if (calls == 0) {
                    since = System.nanoTime();
                }
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(300_000, 4_000_000));
                return System.nanoTime() - since < most.toNanos() ? 1 : 0;
            }
        });
    }

    int run(String sql, Object... args) throws SQLException {
        return bound(sql, args).executeUpdate();
    }

    <T> Optional<T> one(String sql, Row<T> row, Object... args) throws SQLException {
        // An open RETURNING result holds the write lock: it must be closed before the COMMIT.
        try (ResultSet r = bound(sql, args).executeQuery()) {
            return r.next() ? Optional.ofNullable(row.read(r)) : Optional.empty();
        }
    }

    <T> List<T> all(String sql, Row<T> row, Object... args) throws SQLException {
        List<T> rows = new ArrayList<>();
        try (ResultSet r = bound(sql, args).executeQuery()) {
            while (r.next()) {
                rows.add(row.read(r));
            }
        }
        return rows;
    }

    long number(String sql, Object... args) throws SQLException {
        return one(sql, r -> r.getLong(1), args).orElse(0L);
    }

    /** Statements without parameters, several if need be; not kept. */
    void script(String sql) throws SQLException {
        try (var s = connection.createStatement()) {
            s.executeUpdate(sql);
        }
    }

    /**
     * Undoes the open transaction. The error that led here is the one to report; a second one only goes with it.
     *
     * @return false when that failed too
     */
    boolean rollback(Throwable first) {
        try {
            script("ROLLBACK");
            return true;
        } catch (SQLException second) {
            first.addSuppressed(second);
            return false;
        }
    }

    private PreparedStatement bound(String sql, Object... args) throws SQLException {
        PreparedStatement statement = kept.get(sql);
        if (statement == null) {
            statement = connection.prepareStatement(sql);
            kept.put(sql, statement);
            dropEldest();
        }
        for (int i = 0; i < args.length; i++) {
            statement.setObject(i + 1, args[i]);
        }
        return statement;
    }

    private void dropEldest() throws SQLException {
        if (kept.size() > STATEMENTS_KEPT) {
            var eldest = kept.entrySet().iterator();
            eldest.next().getValue().close();
            eldest.remove();
        }
    }

    @Override public void close() throws SQLException {
        connection.close();
    }
}
