package sloth;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;

/** A pool at its cheapest: a connection for each thread, as durable as ours; to close one is only to let go of it. */
final class Connections implements AutoCloseable {

    private final Path file;
    private final Collection<Connection> opened = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Connection> mine = ThreadLocal.withInitial(this::open);

    Connections(Path file) {
        this.file = file;
    }

    DataSource asDataSource() {
        return (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, args) ->
            switch (method.getName()) {
                case "getConnection" -> lent(mine.get());
                default -> throw new UnsupportedOperationException(method.getName());
            });
    }

    private static Connection lent(Connection connection) {
        ClassLoader loader = Connections.class.getClassLoader();
        return (Connection) Proxy.newProxyInstance(loader, new Class<?>[] {Connection.class}, (proxy, method, args) -> {
            if (method.getName().equals("close")) {
                connection.setAutoCommit(true);
                return null;
            }
            try {
                return method.invoke(connection, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    private Connection open() {
        try {
            Connection connection = Db.connect(file);
            opened.add(connection);
            BareTransactions.durable(connection);
            try (var s = connection.createStatement()) {
                s.execute("PRAGMA busy_timeout = 15000");
            }
            return connection;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void script(String sql) throws SQLException {
        try (var s = mine.get().createStatement()) {
            s.executeUpdate(sql);
        }
    }

    @Override public void close() throws SQLException {
        for (Connection c : opened) {
            c.close();
        }
    }
}
