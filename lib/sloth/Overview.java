package sloth;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Looks at the queue as a whole: what is due and when, what is stranded, how batches stand, whether the file is sound. */
final class Overview {

    private final QueueFile file;
    private final Predicate<Roster.WorkerRecord> isDead;

    Overview(QueueFile file, Predicate<Roster.WorkerRecord> isDead) {
        this.file = file;
        this.isDead = isDead;
    }

    /** Pending jobs by when they fall due. @param only names of job files; empty for any */
    List<JobRecord> pending(Collection<String> only, int most) {
        return file.look(() -> file.db().all("""
            SELECT * FROM job WHERE state = 'pending' AND finished IS NULL AND (? = 0 OR job IN (SELECT value FROM json_each(?)))
            ORDER BY due DESC, not_before, id LIMIT ?""", JobRow::read, only.size(), Json.text(only), most));
    }

    /** How a batch stands. @param left pending or running with a live worker */
    record BatchCounts(long batch, String job, long done, long failed, long stranded, long left) {
    }

    /** Batches that are not through yet, oldest first. */
    List<BatchCounts> openBatches() {
        List<JobRecord> stranded = stranded();
        // The plus keeps it from going through all jobs of all batches there ever were.
        return file.look(() -> file.db().all("""
            SELECT b.id, b.job, b.jobs, o.open,
                   (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'failed') AS failed,
                   (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'cancelled') AS cancelled
            FROM (SELECT batch, count(*) AS open FROM job WHERE finished IS NULL AND +batch IS NOT NULL GROUP BY batch) o
            JOIN batch b ON b.id = o.batch ORDER BY b.id""", r -> {
            Long id = r.getLong("id");
            long lost = stranded.stream().filter(j -> id.equals(j.batch())).count();
            long done = r.getLong("jobs") - r.getLong("open") - r.getLong("failed") - r.getLong("cancelled");
            return new BatchCounts(id, r.getString("job"), done, r.getLong("failed"), lost, r.getLong("open") - lost);
        }));
    }

    /** Epoch ms of the newest line in the ledger, 0 for none. */
    long newestEvent() {
        return file.look(() -> file.ledger().newest());
    }

    /** Pending jobs that are due, as of the last claim. @param only names of job files; empty for any */
    long dueCount(Collection<String> only) {
        return file.look(() -> only.isEmpty()
            ? file.db().number("SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND finished IS NULL")
            : file.db().number("""
                SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND finished IS NULL
                  AND job IN (SELECT value FROM json_each(?))""", Json.text(only)));
    }

    /** Pending jobs that a claim could take now, by the clock. */
    long due() {
        return file.look(() -> file.db().number("""
            SELECT (SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND finished IS NULL)
                 + (SELECT count(*) FROM job WHERE state = 'pending' AND due = 0 AND not_before <= ?)""", file.now()));
    }

    /** Epoch ms at which the first waiting job falls due. @param only names of job files; empty for any */
    Optional<Long> nextDue(Collection<String> only) {
        return file.look(() -> only.isEmpty()
            ? file.db().one("SELECT min(not_before) FROM job WHERE state = 'pending' AND due = 0",
                r -> Roster.nullable(r, "min(not_before)"))
            : file.db().one("""
                SELECT min(not_before) AS first FROM job WHERE state = 'pending' AND due = 0
                  AND job IN (SELECT value FROM json_each(?))""", r -> Roster.nullable(r, "first"), Json.text(only)));
    }

    /** Pending jobs that are due, and jobs claimed by others whose lease is over: what a worker may still wait for. */
    long dueOrOverdue(Collection<String> only, String me) {
        long now = file.now();
        String names = Json.text(only);
        return file.look(() -> file.db().number("""
            SELECT (SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND finished IS NULL
                       AND (? = 0 OR job IN (SELECT value FROM json_each(?))))
                 + (SELECT count(*) FROM job WHERE state = 'claimed' AND finished IS NULL AND lease_until <= ? AND worker <> ?
                      AND (? = 0 OR job IN (SELECT value FROM json_each(?))))""",
            only.size(), names, now, me, only.size(), names));
    }

    /** Claimed jobs whose worker is dead, or whose lease is over. */
    List<JobRecord> stranded() {
        long now = file.now();
        return file.look(() -> {
            List<JobRecord> claimed = file.db().all("SELECT * FROM job WHERE state = 'claimed' AND finished IS NULL", JobRow::read);
            List<JobRecord> stranded = new ArrayList<>();
            for (JobRecord job : claimed) {
                Optional<Roster.WorkerRecord> worker = file.roster().worker(job.worker());
                if (job.leaseUntil() <= now || worker.isPresent() && isDead.test(worker.get())) {
                    stranded.add(job);
                }
            }
            return stranded;
        });
    }

    /** Job files that have a job pending or claimed. */
    Set<String> livingFiles() {
        return new HashSet<>(file.look(() -> file.db().all(
            "SELECT DISTINCT job FROM job WHERE finished IS NULL AND job IS NOT NULL", r -> r.getString(1))));
    }

    /** Digest of what the file's newest discovered job ran. */
    Optional<String> lastContent(String job) {
        return file.look(() -> file.db().one(
            "SELECT content FROM job WHERE discovered = 1 AND job = ? ORDER BY id DESC LIMIT 1", r -> r.getString(1), job));
    }

    /** Whether the file is sound, in SQLite's own words: "ok", or what is wrong with it. */
    List<String> integrity() {
        return file.look(() -> file.db().all("PRAGMA integrity_check(5)", r -> r.getString(1)));
    }

    /** Jobs that the ledger tells another story of than their rows. */
    List<Long> contradictions() {
        return file.look(() -> {
            Map<Long, Ledger.Standing> told = Ledger.replay(file.ledger().all());
            return file.db().all("SELECT * FROM job ORDER BY id", JobRow::read).stream()
                .filter(j -> !new Ledger.Standing(j.state(), j.attempts(), null).agreesWith(told.get(j.id()))).map(JobRecord::id).toList();
        });
    }
}
