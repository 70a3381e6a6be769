package sloth;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The {@code event} table: what happened, appended in the transaction that made it so. {@link #replay} gives each job's
 * state, attempts and outcome again from nothing but these lines.
 */
final class Ledger {

    /** What the ledger alone says of a job. */
    record Standing(State state, int attempts, String message) {
        boolean agreesWith(Standing other) {
            return other != null && state == other.state && attempts == other.attempts;
        }
    }

    private static final String NEWEST = "SELECT seq, at FROM event ORDER BY seq DESC LIMIT 1";

    private final Db db;
    private long transaction;
    /** The newest line before this transaction. */
    private long before;

    Ledger(Db db) {
        this.db = db;
    }

    /** Begins a transaction's lines. @return epoch ms of the newest line before it, 0 when there is none */
    long begin() throws SQLException {
        transaction = ThreadLocalRandom.current().nextLong();
        before = 0;
        return db.one(NEWEST, r -> {
            before = r.getLong("seq");
            return r.getLong("at");
        }).orElse(0L);
    }

    void write(long now, Long job, String event, Integer attempt, String worker, Map<String, Object> detail) throws SQLException {
        db.run("""
            INSERT INTO event (job, at, event, attempt, worker, detail, tx, previous)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, (SELECT last_event FROM job WHERE id = ?1))""",
            job, now, event, attempt, worker, Json.text(detail), transaction);
    }

    /** A line "added" for each job with a greater id, under the number that stands in its row. */
    void writeAdded(long now, long after) throws SQLException {
        db.run("INSERT INTO event (seq, job, at, event, tx) SELECT last_event, id, ?, 'added', ? FROM job WHERE id > ? ORDER BY id",
            now, transaction, after);
    }

    /** The number of the newest line, 0 when there is none. */
    long newestSeq() throws SQLException {
        return db.number("SELECT max(seq) FROM event");
    }

    /** Removes the lines of jobs that are gone. @param last the number of each one's newest line */
    void forget(List<Long> last) throws SQLException {
        db.run("""
            DELETE FROM event WHERE seq IN (
              WITH RECURSIVE line (seq) AS (SELECT value FROM json_each(?)
                                            UNION ALL SELECT e.previous FROM line CROSS JOIN event e USING (seq))
              SELECT seq FROM line)""", Json.text(last));
    }

    /** The same ledger through a fresh connection. */
    Ledger on(Db fresh) {
        Ledger same = new Ledger(fresh);
        same.transaction = transaction;
        same.before = before;
        return same;
    }

    /** Whether lines of this transaction are in the file. */
    boolean holdsOurs() throws SQLException {
        return db.number("SELECT count(*) FROM event WHERE seq > ? AND tx = ?", before, transaction) > 0;
    }

    /** Epoch ms of the newest line, 0 when there is none. */
    long newest() throws SQLException {
        return db.one(NEWEST, r -> r.getLong("at")).orElse(0L);
    }

    List<Event> of(long job) throws SQLException {
        // CROSS: from the chain to the lines. The planner would rather go through the whole ledger than sort some few.
        return db.all("""
            WITH RECURSIVE line (seq) AS (SELECT last_event FROM job WHERE id = ?
                                          UNION ALL SELECT e.previous FROM line CROSS JOIN event e USING (seq))
            SELECT e.* FROM line CROSS JOIN event e USING (seq) ORDER BY seq""", Ledger::event, job);
    }

    List<Event> all() throws SQLException {
        return db.all("SELECT * FROM event ORDER BY seq", Ledger::event);
    }

    static Map<Long, Standing> replay(Iterable<Event> events) {
        Map<Long, Standing> jobs = new LinkedHashMap<>();
        for (Event e : events) {
            if (e.job() != null) {
                jobs.merge(e.job(), new Standing(State.PENDING, 0, null), (before, fresh) -> after(before, e));
            }
        }
        return jobs;
    }

    private static Standing after(Standing was, Event e) {
        String message = e.detail().containsKey("message") ? (String) e.detail().get("message") : was.message;
        return switch (e.event()) {
            case "claimed" -> new Standing(State.CLAIMED, e.attempt(), message);
            case "done" -> new Standing(State.DONE, was.attempts, message);
            case "failed" -> new Standing(State.FAILED, was.attempts, message);
            case "cancelled" -> new Standing(State.CANCELLED, was.attempts, message);
            case "reclaimed" -> new Standing(State.PENDING, was.attempts, message);
            case "retry" -> new Standing(State.PENDING, was.attempts - (isNotNow(e) ? 1 : 0), message);
            case "released" -> new Standing(State.PENDING, was.attempts - 1, message);
            case "requeued" -> new Standing(State.PENDING, 0, message);
            default -> was;
        };
    }

    private static boolean isNotNow(Event e) {
        return SlothQueue.NOT_NOW.equals(e.detail().get("reason"));
    }

    private static Event event(ResultSet r) throws SQLException {
        Integer attempt = r.getInt("attempt");
        if (r.wasNull()) {
            attempt = null;
        }
        return new Event(r.getLong("seq"), Roster.nullable(r, "job"), r.getLong("at"), r.getString("event"), attempt,
            r.getString("worker"), Json.object(r.getString("detail")));
    }
}
