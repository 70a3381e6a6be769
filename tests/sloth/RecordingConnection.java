package sloth;

import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.sqlite.ProgressHandler;
import org.sqlite.jdbc4.JDBC4Connection;

/** Notes each statement that is prepared, so that a test asks about what was really sent. */
final class RecordingConnection extends JDBC4Connection {

    private final Set<String> sent = new LinkedHashSet<>();

    RecordingConnection(Path file) throws SQLException {
        super("jdbc:sqlite:" + file, file.toString(), new Properties());
    }

    @Override public PreparedStatement prepareStatement(String sql) throws SQLException {
        sent.add(sql);
        return super.prepareStatement(sql);
    }

    /** The statements since the last call. The queue keeps its statements: each shows once in the life of a queue. */
    List<String> taken() {
        List<String> all = new ArrayList<>(sent);
        sent.clear();
        return all;
    }

    /** How many instructions SQLite's machine runs meanwhile: a cost that is the same on every computer. */
    long cost(Runnable move) throws SQLException {
        long[] count = {0};
        ProgressHandler.setHandler(this, 1, new ProgressHandler() {
            @Override protected int progress() {
                count[0]++;
                return 0;
            }
        });
        move.run();
        ProgressHandler.clearHandler(this);
        return count[0];
    }

    /** How SQLite goes about it, a line a table. */
    List<String> plan(String sql) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (var s = super.prepareStatement("EXPLAIN QUERY PLAN " + sql); var r = s.executeQuery()) {
            while (r.next()) {
                lines.add(r.getString("detail"));
            }
        }
        return lines;
    }
}
