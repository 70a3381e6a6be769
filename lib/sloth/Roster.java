package sloth;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Who works here, and which processes were started: the tables {@code worker} and {@code process}. */
final class Roster {

    /** A running {@code slothq run}. @param job the id of the job it has, null when idle */
    record WorkerRecord(String id, Host host, long pid, Long job) {
    }

    /**
     * The processes of one claim.
     *
     * @param mark  what {@code SLOTHQ_RUN} holds in their environment
     * @param pid   main process and process group, null until it has started
     * @param ticks when it started, by the kernel's count since boot; null where it does not tell
     */
    record ProcessRecord(long job, int claim, String worker, String mark, Host host, Long pid, Long ticks) {

        /** Ends what may be left of it. Another machine's, or another boot's, cannot be here. @return false when something lives on */
        boolean endAll() {
            return !host.isSameMachine(Host.here()) || !host.isSameBoot(Host.here())
                || new ProcessTree(mark, pid, ticks).end(Duration.ZERO);
        }
    }

    private final Db db;

    Roster(Db db) {
        this.db = db;
    }

    void enter(String worker, Host host, long pid, long now) throws SQLException {
        db.run("INSERT INTO worker (id, host, boot, pid, started) VALUES (?, ?, ?, ?, ?)", worker, host.name(), host.boot(), pid, now);
    }

    void leave(String worker) throws SQLException {
        db.run("DELETE FROM worker WHERE id = ?", worker);
    }

    void forgetAll() throws SQLException {
        db.run("DELETE FROM process");
        db.run("DELETE FROM worker");
    }

    List<WorkerRecord> workers() throws SQLException {
        return db.all("""
            SELECT w.*, (SELECT min(j.id) FROM job j WHERE j.state = 'claimed' AND j.finished IS NULL AND j.worker = w.id) AS job
            FROM worker w ORDER BY w.started, w.id""", Roster::worker);
    }

    Optional<WorkerRecord> worker(String id) throws SQLException {
        return db.one("SELECT w.*, NULL AS job FROM worker w WHERE id = ?", Roster::worker, id);
    }

    /** Stands before the process does, so that no process is ever without its record. */
    void starting(Lease lease, String mark, Host host) throws SQLException {
        db.run("INSERT INTO process (job, claim, worker, mark, host, boot) VALUES (?, ?, ?, ?, ?, ?)",
            lease.id(), lease.claim(), lease.worker(), mark, host.name(), host.boot());
    }

    /** The mark may be another one: a guest's JVM carries that of its first job. */
    void started(Lease lease, ProcessTree tree) throws SQLException {
        db.run("UPDATE process SET mark = ?, pid = ?, ticks = ? WHERE job = ? AND claim = ?",
            tree.mark(), tree.group(), tree.ticks(), lease.id(), lease.claim());
    }

    void gone(long job, int claim) throws SQLException {
        db.run("DELETE FROM process WHERE job = ? AND claim = ?", job, claim);
    }

    /** Processes that may live although their claim is over: reclaimed, stranded, cancelled, or of a dead worker. */
    List<ProcessRecord> strays() throws SQLException {
        return db.all("""
            SELECT p.* FROM process p
            WHERE NOT EXISTS (SELECT 1 FROM job j WHERE j.id = p.job AND j.state = 'claimed' AND j.claims = p.claim)
            ORDER BY p.job, p.claim""", Roster::process);
    }

    List<ProcessRecord> of(long job) throws SQLException {
        return db.all("SELECT * FROM process WHERE job = ? ORDER BY claim", Roster::process, job);
    }

    private static WorkerRecord worker(ResultSet r) throws SQLException {
        return new WorkerRecord(r.getString("id"), new Host(r.getString("host"), r.getString("boot")), r.getLong("pid"),
            nullable(r, "job"));
    }

    private static ProcessRecord process(ResultSet r) throws SQLException {
        return new ProcessRecord(r.getLong("job"), r.getInt("claim"), r.getString("worker"), r.getString("mark"),
            new Host(r.getString("host"), r.getString("boot")), nullable(r, "pid"), nullable(r, "ticks"));
    }

    static Long nullable(ResultSet r, String column) throws SQLException {
        long value = r.getLong(column);
        return r.wasNull() ? null : value;
    }
}
