package sloth;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import java.util.Set;
import org.sqlite.jdbc4.JDBC4Connection;

/** A connection to a disk that fails: at its nth call, once or from there on. */
final class FaultyConnection extends JDBC4Connection {

    /** What the nth call does. */
    enum Fault {
        /** It fails and nothing of it is done. */
        REFUSED(false, false),
        /** It is done, and fails all the same: the answer got lost. */
        ANSWER_LOST(true, false),
        /** It fails, and so does all that comes after. */
        GONE(false, true),
        /** It is done and fails, and then all fails: the worst moment for a disk to go. */
        GONE_AFTERWARDS(true, true);

        private final boolean done;
        private final boolean forGood;

        Fault(boolean done, boolean forGood) {
            this.done = done;
            this.forGood = forGood;
        }

        boolean passes() {
            return !forGood;
        }
    }

    /** Counts the calls of all connections of one queue, once it is armed, and says which one fails. */
    static final class Plan {
        private static final Set<String> EXECUTED = Set.of("executeQuery", "executeUpdate");
        private static final int IO_ERROR = 10;
        private final Fault fault;
        private final int at;
        private int calls;
        private boolean wasExecution;
        private boolean armed;

        Plan(Fault fault, int at) {
            this.fault = fault;
            this.at = at;
        }

        void arm(boolean on) {
            armed = on;
        }

        /** Whether there was an nth call at all. */
        boolean hasStruck() {
            return calls >= at;
        }

        /** Whether the nth call executed a statement; else it prepared one, fetched a row, or opened the file. */
        boolean hasStruckAnExecution() {
            return wasExecution;
        }

        private <T> T call(String name, SqlCall<T> work) throws SQLException {
            if (!armed) {
                return work.run();
            }
            calls++;
            wasExecution = calls == at ? EXECUTED.contains(name) : wasExecution;
            if (calls < at || calls > at && fault.passes()) {
                return work.run();
            }
            if (calls == at && fault.done && work.run() instanceof ResultSet lost) {
                lost.close();
            }
            throw new SQLException("disk I/O error (call " + at + ", " + fault + ")", null, IO_ERROR);
        }
    }

    private interface SqlCall<T> {
        T run() throws SQLException;
    }

    private final Plan plan;

    static QueueFile.Source source(Path file, Plan plan) {
        return () -> plan.call("connect", () -> new FaultyConnection(file, plan));
    }

    private FaultyConnection(Path file, Plan plan) throws SQLException {
        super("jdbc:sqlite:" + file, file.toString(), new Properties());
        this.plan = plan;
    }

    @Override public PreparedStatement prepareStatement(String sql) throws SQLException {
        return faulty(PreparedStatement.class, plan.call("prepareStatement", () -> super.prepareStatement(sql)));
    }

    @Override public Statement createStatement() throws SQLException {
        boolean isBeingOpened = plan == null;
        return isBeingOpened ? super.createStatement() : faulty(Statement.class, super.createStatement());
    }

    private <T> T faulty(Class<T> type, T real) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            boolean counts = Plan.EXECUTED.contains(method.getName()) || method.getName().equals("next");
            Object answer = counts ? plan.call(method.getName(), () -> invoke(real, method, args)) : invoke(real, method, args);
            return answer instanceof ResultSet rows && type != ResultSet.class ? faulty(ResultSet.class, rows) : answer;
        }));
    }

    private static Object invoke(Object real, Method method, Object[] args) throws SQLException {
        try {
            return method.invoke(real, args);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof SQLException s) {
                throw s;
            }
            throw new IllegalStateException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
