package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterators;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A queue of jobs in one SQLite file. An acknowledged move survives a power cut; a move and its line in the ledger are
 * one transaction; no word counts that does not show the token of the job's present lease.
 *
 * <pre>
 *             add                claim                    done
 *   (nothing) ───────► pending ─────────► claimed ──────────────► done
 *                        ▲  ▲                │ │
 *                        │  └── retry ───────┘ │  attempts = max
 *                        │   not_before =      └────────────────► failed ── retry by hand ──► pending
 *                        │   now + 2^attempts s, capped
 *                        └── reclaimed (worker dead, hung, lease over) / released (worker asked to stop)
 *   pending or claimed ── cancel ──► cancelled
 * </pre>
 *
 * <p>At least once, with at most one live attempt: a job whose worker dies runs again. Attempts are counted at the claim,
 * so that a job that kills its worker still runs out of them; only {@link #release}, {@link #notNow} and {@link #retry}
 * take one back. It starts no process, and waits for nothing but the file's write lock.
 *
 * <p>Safe for use by several threads and processes. What cannot be is a {@link SlothException}, with its one line.
 */
public final class SlothQueue implements AutoCloseable {

    static final String NOT_NOW = "not now";
    private static final String ROW = "SELECT * FROM job WHERE id = ?";
    /** "Not now" waits 2 s, then twice as long at each such word in a row, up to the job's own cap. */
    private static final Duration NOT_NOW_BASE = Duration.ofSeconds(2);
    /** So many rows are handed to SQLite in one statement. */
    private static final int AT_ONCE = 1_000;
    private final QueueFolder folder;
    private final QueueFile file;
    private Evidence evidence;

    /** Loads the database driver on a thread of its own, for a program that has other things to do before it opens a queue. */
    public static void loadAhead() {
        Thread loader = new Thread(Db::loadDriver, "slothq-load");
        loader.setDaemon(true);
        loader.start();
    }

    /** Opens the queue of a folder, and makes it where there is none. */
    public static SlothQueue open(Path folder) {
        return open(new QueueFolder(folder), Clock.system());
    }

    static SlothQueue open(QueueFolder folder, Clock clock) {
        folder.prepare();
        return new SlothQueue(folder, () -> Db.connect(folder.database()), clock, QueueFile.Use.MOVES);
    }

    /**
     * For heartbeats, on a connection of its own, so that they wait for no other work. They need not survive a power
     * cut, since the worker does not: its commits skip the wait for the disk.
     */
    static SlothQueue openForHeartbeats(QueueFolder folder, Clock clock) {
        return new SlothQueue(folder, () -> Db.connect(folder.database()), clock, QueueFile.Use.HEARTBEATS);
    }

    /** To look only: creates and changes nothing. A folder whose queue was never used looks empty. */
    public static SlothQueue look(QueueFolder folder) {
        boolean used = folder.database().toFile().length() > 0;
        return new SlothQueue(folder, () -> used ? Db.connect(folder.database()) : Db.inMemory(),
            Clock.system(), QueueFile.Use.LOOKS);
    }

    SlothQueue(QueueFolder folder, QueueFile.Source source, Clock clock, QueueFile.Use use) {
        folder.refuseEmptied();
        this.folder = folder;
        this.file = new QueueFile(folder.database(), source, clock, use);
        this.evidence = new Evidence(new WorkerLocks(folder.locks()), clock::nanos);
        if (use == QueueFile.Use.MOVES) {
            forgetTheOriginal();
        }
    }

    /**
     * A copied folder, or a backup, brings along the records of the original's workers and their processes, and would end
     * them. By its folder a copy knows itself; it takes a name of its own.
     */
    private void forgetTheOriginal() {
        Optional<String> here = Optional.of(folder.place());
        if (file.look(() -> file.meta("place")).equals(here)) {
            return;
        }
        file.move(now -> {
            Optional<String> before = file.meta("place");
            if (before.isPresent() && !before.equals(here) && file.roster().workers().stream().allMatch(this::isDead)) {
                file.roster().forgetAll();
                file.rename();
            }
            file.setMeta("place", here.get());
            return null;
        });
    }

    /** Whoever watches others counts its own awake time. */
    void countAwakeBy(LongSupplier awakeNanos) {
        evidence = new Evidence(new WorkerLocks(folder.locks()), awakeNanos);
    }

    public QueueFolder folder() {
        return folder;
    }

    // ---- the life of a job

    /** Adds a job of a file in {@code jobs/}, with the options that stand in it. */
    public JobRecord add(String job, String... args) {
        return add(JobFile.named(folder, job).toAdd().args(args));
    }

    /** Adds a job; while another with its key is pending or claimed, gives that one and adds nothing. */
    public JobRecord add(NewJob job) {
        return file.move(now -> insert(List.of(job), null, now) == 1 ? newest() : holder(job.effectiveKey()).orElseThrow());
    }

    /** What {@link #addAll} did. */
    public record Batch(long batch, int added, int existing) {
    }

    /** Adds many in one transaction, all or none, as one batch. Those whose key is held already are counted, not added. */
    public Batch addAll(String job, Iterator<NewJob> jobs) {
        return file.move(now -> {
            long batch = file.db().number("INSERT INTO batch (job, created) VALUES (?, ?) RETURNING id", job, now);
            long before = newestId();
            int asked = 0;
            int added = 0;
            List<NewJob> alike = new ArrayList<>();
            while (jobs.hasNext()) {
                NewJob next = jobs.next();
                if (alike.size() == AT_ONCE || !alike.isEmpty() && !next.isLike(alike.get(0))) {
                    added += insert(alike, batch, now);
                    alike.clear();
                }
                alike.add(next);
                asked++;
            }
            added += alike.isEmpty() ? 0 : insert(alike, batch, now);
            file.db().run("UPDATE batch SET first_job = ?, last_job = ?, jobs = ? WHERE id = ?", before + 1, newestId(), added, batch);
            return new Batch(batch, added, asked - added);
        });
    }

    /**
     * A job for each line of UTF-8 text, the whole line as one last argument; Windows line ends are taken off, empty
     * lines passed over. The text is read to its end first.
     */
    public Batch addEach(NewJob job, InputStream text) throws IOException {
        try (TextLines lines = new TextLines(text)) {
            Stream<String> all = StreamSupport.stream(Spliterators.spliteratorUnknownSize(lines, 0), false);
            return addAll(job.job() == null ? job.command().get(0) : job.job(), all.map(job::withLast).iterator());
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private int insert(List<NewJob> alike, Long batch, long now) throws SQLException {
        long before = newestId();
        int added = JobRow.insert(file.db(), alike, batch, file.ledger().newestSeq(), now);
        if (added > 0) {
            file.ledger().writeAdded(now, before);
        }
        return added;
    }

    private long newestId() throws SQLException {
        return file.db().number("SELECT max(id) FROM job");
    }

    private JobRecord newest() throws SQLException {
        return file.db().one("SELECT * FROM job ORDER BY id DESC LIMIT 1", JobRow::read).orElseThrow();
    }

    private Optional<JobRecord> holder(String key) throws SQLException {
        return file.db().one("SELECT * FROM job WHERE key = ? AND state IN ('pending', 'claimed')", JobRow::read, key);
    }

    /** Takes the first due job, highest priority, then lowest id, after taking back what was lost. */
    public Optional<Lease> claim(String worker) {
        return file.move(now -> {
            takeBackLost(now, claim -> false);
            return next(worker, List.of(), now);
        });
    }

    /**
     * For a worker, which takes back at its own times with {@link #reclaim}, and will start processes: their record
     * stands before they do.
     *
     * @param only names of job files; empty for any job
     */
    Optional<Lease> claimToRun(String worker, Collection<String> only) {
        return file.move(now -> {
            Optional<Lease> lease = next(worker, only, now);
            if (lease.isPresent()) {
                file.roster().starting(lease.get(), mark(lease.get()), Host.here());
            }
            return lease;
        });
    }

    private Optional<Lease> next(String worker, Collection<String> only, long now) throws SQLException {
        file.db().run(PROMOTE, now);
        return take(worker, only, now);
    }

    /** Rows that wait are kept apart, so that a million of them cost a claim nothing. */
    private static final String PROMOTE = "UPDATE job SET due = 1 WHERE state = 'pending' AND due = 0 AND not_before <= ?";

    private static final String NEXT = """
        SELECT id FROM job WHERE state = 'pending' AND due = 1 AND finished IS NULL %s
          AND NOT EXISTS (SELECT 1 FROM process p WHERE p.job = job.id)
        ORDER BY priority DESC, id LIMIT 1""";
    private static final String NEXT_OF_ALL = NEXT.formatted("");
    private static final String NEXT_OF_SOME = NEXT.formatted("AND job IN (SELECT value FROM json_each(?))");

    private Optional<Lease> take(String worker, Collection<String> only, long now) throws SQLException {
        while (true) {
            Object[] names = only.isEmpty() ? new Object[0] : new Object[] {Json.text(only)};
            Optional<Long> next = file.db().one(only.isEmpty() ? NEXT_OF_ALL : NEXT_OF_SOME, r -> r.getLong(1), names);
            if (next.isEmpty()) {
                return Optional.empty();
            }
            try {
                return Optional.of(take(next.get(), worker, now));
            } catch (JobRow.UnreadableRow e) {
                // It would block the head of the queue for ever: it fails with a reason, and the next one goes out.
                spoil(e, now);
            }
        }
    }

    /** Without RETURNING, which opens a table of its own each time: 30 µs of a claim. */
    private Lease take(long id, String worker, long now) throws SQLException {
        String token = UUID.randomUUID().toString();
        file.db().run("""
            UPDATE job SET state = 'claimed', attempts = attempts + 1, claims = claims + 1, worker = ?, token = ?, lease_until = ? + lease_ms
            WHERE id = ?""", worker, token, now, id);
        JobRecord job = file.db().one(ROW, JobRow::readable, id).orElseThrow();
        file.ledger().write(now, id, "claimed", job.attempts(), worker, Map.of("claim", job.claims()));
        return new Lease(job, worker, token, job.leaseUntil());
    }

    private void spoil(JobRow.UnreadableRow e, long now) throws SQLException {
        String message = "unreadable row: " + e.getMessage();
        file.db().run("""
            UPDATE job SET state = 'failed', attempts = attempts - 1, token = NULL, worker = NULL, lease_until = NULL,
                           message = ?, finished = ? WHERE id = ?""", message, now, e.id);
        file.ledger().write(now, e.id, "failed", null, null, Map.of("reason", message, "message", message));
    }

    /** Moves the lease on to now + its length. @return false when it is no longer held */
    public boolean heartbeat(Lease lease) {
        return file.move(now -> file.db().run("""
            UPDATE job SET lease_until = ? + lease_ms WHERE id = ? AND state = 'claimed' AND token = ?""",
            now, lease.id(), lease.token()) == 1);
    }

    /** A look at the fence: cheap, and changes nothing. */
    boolean isHeld(Lease lease) {
        return file.look(() -> file.db().number(
            "SELECT count(*) FROM job WHERE id = ? AND state = 'claimed' AND token = ?", lease.id(), lease.token()) == 1);
    }

    /** Ends the job well. @return false when the lease was lost: then nothing changed but a line in the ledger */
    public boolean complete(Lease lease, String message) {
        String text = JobRow.clean(message);
        return file.move(now -> ended(lease, now, "done", detail("message", text), file.db().run("""
            UPDATE job SET state = 'done', message = ?, finished = ?, token = NULL, worker = NULL, lease_until = NULL
            WHERE id = ? AND state = 'claimed' AND token = ?""", text, now, lease.id(), lease.token())));
    }

    /** Ends the attempt badly: pending again after the job's back-off, or failed when this was the last attempt. */
    public boolean fail(Lease lease, String message) {
        return fail(lease, message, Map.of());
    }

    boolean fail(Lease lease, String message, Map<String, Object> detail) {
        if (lease.attempt() >= lease.job().options().attempts()) {
            return giveUp(lease, message, detail);
        }
        Duration wait = lease.job().options().backoff().after(lease.attempt());
        return file.move(now -> retryLater(lease, now, JobRow.clean(message), wait, 0, detail));
    }

    /** Fails the job at once, attempts left or not. */
    boolean giveUp(Lease lease, String message, Map<String, Object> detail) {
        String text = JobRow.clean(message);
        return file.move(now -> ended(lease, now, "failed", merged(detail, detail("message", text)), file.db().run("""
            UPDATE job SET state = 'failed', message = ?, finished = ?, token = NULL, worker = NULL, lease_until = NULL, not_nows = 0
            WHERE id = ? AND state = 'claimed' AND token = ?""", text, now, lease.id(), lease.token())));
    }

    /** The time is not right (exit 75): pending again after a wait that doubles, the attempt not counted. */
    boolean notNow(Lease lease, String message) {
        return file.move(now -> {
            int before = (int) file.db().number("SELECT not_nows FROM job WHERE id = ?", lease.id());
            Duration cap = lease.job().options().backoff().cap();
            Duration wait = cap.compareTo(NOT_NOW_BASE) < 0 ? cap : new Backoff(NOT_NOW_BASE, cap).after(before + 1);
            return retryLater(lease, now, JobRow.clean(message), wait, 1, Map.of("reason", NOT_NOW));
        });
    }

    private boolean retryLater(Lease lease, long now, String message, Duration wait, int uncounted, Map<String, Object> detail)
        throws SQLException {
        long next = now + wait.toMillis();
        int rows = file.db().run("""
            UPDATE job SET state = 'pending', due = 0, not_before = ?, delay_ms = ?, attempts = attempts - ?,
                           not_nows = iif(? = 1, not_nows + 1, 0), message = ?, token = NULL, worker = NULL, lease_until = NULL
            WHERE id = ? AND state = 'claimed' AND token = ?""",
            next, wait.toMillis(), uncounted, uncounted, message, lease.id(), lease.token());
        Map<String, Object> all = merged(detail, detail("message", message));
        all.put("wait_ms", wait.toMillis());
        all.put("next", Instant.ofEpochMilli(next).toString());
        return ended(lease, now, "retry", all, rows);
    }

    /** The worker was asked to stop: pending, due at once, the attempt not counted. The job's processes must be gone. */
    public boolean release(Lease lease) {
        return file.move(now -> ended(lease, now, "released", Map.of(), file.db().run("""
            UPDATE job SET state = 'pending', due = 1, not_before = 0, delay_ms = NULL, attempts = attempts - 1,
                           token = NULL, worker = NULL, lease_until = NULL
            WHERE id = ? AND state = 'claimed' AND token = ?""", lease.id(), lease.token())));
    }

    /** The door every word about a lease goes through: it changed one row, or the lease was lost. */
    private boolean ended(Lease lease, long now, String event, Map<String, Object> detail, int rows) throws SQLException {
        if (rows > 1) {
            throw new IllegalStateException(event + " moved " + rows + " rows, expected 1");
        }
        if (rows == 0) {
            noteLost(lease, now, event);
            file.roster().gone(lease.id(), lease.claim());
            return false;
        }
        file.ledger().write(now, lease.id(), event, lease.attempt(), lease.worker(), detail);
        file.roster().gone(lease.id(), lease.claim());
        return true;
    }

    /** For a worker that found its lease lost and has ended the job's processes. */
    void lost(Lease lease) {
        file.move(now -> {
            noteLost(lease, now, null);
            file.roster().gone(lease.id(), lease.claim());
            return null;
        });
    }

    private void noteLost(Lease lease, long now, String refused) throws SQLException {
        // A job that was cancelled or pruned meanwhile has nothing to tell.
        if (file.db().number("SELECT count(*) FROM job WHERE id = ? AND state <> 'cancelled'", lease.id()) == 1) {
            file.ledger().write(now, lease.id(), "lease-lost", lease.attempt(), lease.worker(),
                refused == null ? Map.of() : Map.of("refused", refused));
        }
    }

    // ---- by hand

    /** Stays cancelled whatever its worker says later. Its processes are the worker's to end: see {@link #processesOf}. */
    public JobRecord cancel(long id) {
        return file.move(now -> {
            Optional<JobRecord> row = file.db().one("""
                UPDATE job SET state = 'cancelled', finished = ?, token = NULL, worker = NULL, lease_until = NULL
                WHERE id = ? AND state IN ('pending', 'claimed') RETURNING *""", JobRow::read, now, id);
            if (row.isEmpty()) {
                throw SlothException.refused("job " + id + " is " + known(id).state() + "; only a pending or claimed job can be cancelled");
            }
            file.ledger().write(now, id, "cancelled", row.get().attempts() == 0 ? null : row.get().attempts(), null, Map.of());
            return row.get();
        });
    }

    /** Makes a failed or cancelled job pending again with attempts 0; its history stays. */
    public JobRecord retry(long id) {
        return retry(id, false);
    }

    /** @param fresh whether its stored steps go, so that all of its work is done again */
    JobRecord retry(long id, boolean fresh) {
        return file.move(now -> {
            JobRecord job = known(id);
            if (job.state() != State.FAILED && job.state() != State.CANCELLED) {
                throw SlothException.refused("job " + id + " is " + job.state() + "; only a failed or cancelled job can be retried");
            }
            Optional<JobRecord> holder = job.key() == null ? Optional.empty() : holder(job.key());
            if (holder.isPresent()) {
                throw SlothException.refused("job " + id + " cannot be retried: job " + holder.get().id()
                    + " holds its key '" + job.key() + "' now");
            }
            if (fresh) {
                file.db().run("DELETE FROM step WHERE job = ?", id);
            }
            JobRecord row = file.db().one("""
                UPDATE job SET state = 'pending', due = 1, not_before = 0, delay_ms = NULL, attempts = 0, not_nows = 0, finished = NULL,
                               progress_done = NULL, progress_total = NULL, progress_note = NULL
                WHERE id = ? AND state IN ('failed', 'cancelled') RETURNING *""", JobRow::read, id).orElseThrow();
            file.ledger().write(now, id, "requeued", null, null, fresh ? Map.of("fresh", true) : Map.of());
            return row;
        });
    }

    /** All or none. */
    public List<JobRecord> retryAll(Collection<Long> ids, boolean fresh) {
        return together(() -> ids.stream().map(id -> retry(id, fresh)).toList());
    }

    /** All that failed, but those whose key another job holds now. @param passedOver hears of these */
    public void retryFailed(boolean fresh, Consumer<JobRecord> retried, Consumer<String> passedOver) {
        together(() -> {
            for (JobRecord job : list(new Filter(State.FAILED, null, null, null))) {
                try {
                    retried.accept(retry(job.id(), fresh));
                } catch (SlothException e) {
                    if (e.exitCode() != SlothException.REFUSED) {
                        throw e;
                    }
                    passedOver.accept(e.getMessage());
                }
            }
            return null;
        });
    }

    /**
     * Removes jobs that ended before {@code now - older}, with their history and steps. A batch goes as a whole, when all
     * of it has ended; the newest discovered job of a file stays, since it says that the file has run.
     *
     * @return the ids that went
     */
    public List<Long> prune(Duration older) {
        return file.move(now -> {
            List<Long> gone = new ArrayList<>();
            List<Long> lastEvents = file.db().all("""
                DELETE FROM job WHERE state IN ('done', 'failed', 'cancelled') AND finished <= ?
                  AND NOT EXISTS (SELECT 1 FROM process p WHERE p.job = job.id)
                  AND NOT (discovered = 1 AND id = (SELECT max(d.id) FROM job d WHERE d.discovered = 1 AND d.job = job.job))
                  AND (batch IS NULL OR batch NOT IN (SELECT b.batch FROM job b WHERE b.batch IS NOT NULL
                                                      AND (b.state IN ('pending', 'claimed') OR b.finished > ?
                                                           OR EXISTS (SELECT 1 FROM process p WHERE p.job = b.id))))
                RETURNING id, last_event""", r -> {
                gone.add(r.getLong("id"));
                return r.getLong("last_event");
            }, now - older.toMillis(), now - older.toMillis());
            if (!gone.isEmpty()) {
                // This line first: the newest one is never deleted, so that no number is given twice.
                file.ledger().write(now, null, "pruned", null, null, Map.of("jobs", gone.size(), "older", Durations.format(older)));
                file.ledger().forget(lastEvents);
            }
            return gone;
        });
    }

    // ---- reclaim

    /**
     * Takes back what dead and hung workers left. A job goes out again only when its processes are known to be gone.
     *
     * @param me    whose own claims are left alone
     * @param knows as far as it knows of them, by the job. One that it does not know of came of a commit that seemed to fail:
     *              nobody renews it
     * @return the jobs as they are now: pending, or failed for want of attempts
     */
    List<JobRecord> reclaim(String me, LongPredicate knows) {
        return file.move(now -> takeBackLost(now, claim -> claim.worker().equals(me) && knows.test(claim.id())));
    }

    private List<JobRecord> takeBackLost(long now, Predicate<Evidence.Claim> leaveAlone) throws SQLException {
        List<Evidence.Claim> claims = claims();
        if (claims.stream().anyMatch(c -> c.isLongerThanItsLease(now))) {
            file.capLeases(now);
            claims = claims();
        }
        Map<String, Optional<Roster.WorkerRecord>> workers = new HashMap<>();
        List<JobRecord> taken = new ArrayList<>();
        for (Evidence.Claim claim : claims) {
            if (leaveAlone.test(claim)) {
                continue;
            }
            if (!workers.containsKey(claim.worker())) {
                workers.put(claim.worker(), file.roster().worker(claim.worker()));
            }
            Optional<String> why = evidence.against(claim, workers.get(claim.worker()), now);
            if (why.isPresent()) {
                takeBack(claim, why.get(), now).ifPresent(taken::add);
            }
        }
        return taken;
    }

    private List<Evidence.Claim> claims() throws SQLException {
        return file.db().all("SELECT id, worker, token, lease_until, lease_ms FROM job WHERE state = 'claimed' AND finished IS NULL",
            r -> new Evidence.Claim(r.getLong("id"), r.getString("worker"), r.getString("token"),
                r.getLong("lease_until"), Duration.ofMillis(r.getLong("lease_ms"))));
    }

    /** One conditional statement: a word that came in since the claim was read wins. Its processes keep their record. */
    private Optional<JobRecord> takeBack(Evidence.Claim claim, String why, long now) throws SQLException {
        Optional<JobRecord> row = file.db().one("""
            UPDATE job SET state = iif(attempts < max_attempts, 'pending', 'failed'),
                           due = 1, not_before = 0, delay_ms = NULL, not_nows = 0,
                           finished = iif(attempts < max_attempts, NULL, ?),
                           message = iif(attempts < max_attempts, '', 'stranded: ') || ? || iif(attempts < max_attempts, '',
                                     ' in attempt ' || attempts || ' of ' || max_attempts),
                           token = NULL, worker = NULL, lease_until = NULL
            WHERE id = ? AND state = 'claimed' AND token = ? RETURNING *""", JobRow::read, now, why, claim.id(), claim.token());
        if (row.isPresent()) {
            JobRecord job = row.get();
            file.ledger().write(now, job.id(), job.state() == State.FAILED ? "failed" : "reclaimed", job.attempts(), claim.worker(),
                Map.of("reason", why, "message", job.message()));
        }
        return row;
    }

    // ---- workers and their processes

    void enter(String worker, long pid) {
        file.move(now -> {
            file.roster().enter(worker, Host.here(), pid, now);
            return null;
        });
    }

    /** Its claims must be over: one that is left behind would be taken for a claim without a lock. */
    void leave(String worker) {
        file.move(now -> {
            if (file.db().number("SELECT count(*) FROM job WHERE state = 'claimed' AND finished IS NULL AND worker = ?", worker) == 0) {
                file.roster().leave(worker);
            }
            return null;
        });
    }

    List<Roster.WorkerRecord> workers() {
        return file.look(() -> file.roster().workers());
    }

    /** Whether some worker of this machine lives; one of another host is believed. */
    public boolean hasLiveWorker() {
        return workers().stream().anyMatch(w -> !isDead(w));
    }

    boolean isDead(Roster.WorkerRecord worker) {
        return evidence.isDead(worker);
    }

    boolean isDead(String worker) {
        return file.look(() -> file.roster().worker(worker)).map(evidence::isDead).orElse(true);
    }

    /** Notes where the claim's processes are, before they begin. @return false when the lease is lost: then they must not */
    boolean mayBegin(Lease lease, ProcessTree tree) {
        return file.move(now -> {
            file.roster().started(lease, tree);
            return isHeld(lease);
        });
    }

    /** Processes whose claim is over, though they may live. */
    List<Roster.ProcessRecord> strays() {
        return file.look(() -> file.roster().strays());
    }

    List<Roster.ProcessRecord> processesOf(long job) {
        return file.look(() -> file.roster().of(job));
    }

    /** Nothing of this claim is alive any more. */
    void gone(Roster.ProcessRecord process) {
        file.move(now -> {
            file.roster().gone(process.job(), process.claim());
            return null;
        });
    }

    /** What {@code SLOTHQ_RUN} holds in this claim's processes: unlike the token no secret, unlike a pid never used again. */
    String mark(Lease lease) {
        return file.uuid() + ":" + lease.id() + "." + lease.claim();
    }

    // ---- while it runs

    /** Writes how far the job is. @return false when the lease is lost */
    boolean progress(Lease lease, JobRecord.Progress p) {
        return file.move(now -> file.db().run("""
            UPDATE job SET progress_done = ?, progress_total = ?, progress_note = ? WHERE id = ? AND state = 'claimed' AND token = ?""",
            p.done(), p.total(), p.note() == null ? null : JobRow.clean(p.note()), lease.id(), lease.token()) == 1);
    }

    /** Notes the content that this claim runs: discovery compares with it. */
    void runs(Lease lease, String content) {
        boolean news = file.look(() -> file.db().number(
            "SELECT count(*) FROM job WHERE id = ? AND discovered = 1 AND content IS NOT ?", lease.id(), content)) == 1;
        if (news) {
            file.move(now -> file.db().run("UPDATE job SET content = ? WHERE id = ? AND state = 'claimed' AND token = ?",
                content, lease.id(), lease.token()));
        }
    }

    /** The worker noticed that time went by without it. */
    void slept(Lease lease, Duration length, String kind) {
        file.move(now -> {
            file.ledger().write(now, lease.id(), "slept", lease.attempt(), lease.worker(), Map.of("ms", length.toMillis(), "kind", kind));
            return null;
        });
    }

    /** The pulse saw the wall clock go forward by itself. Steps back are seen by {@link QueueFile}. */
    void steppedForward(Duration by) {
        file.move(now -> {
            file.ledger().write(now, null, "clock-stepped", null, null, Map.of("ms", by.toMillis()));
            return null;
        });
    }

    /** Stores what a step of the job gave. @return false when the lease is lost: the step does not count */
    boolean keepStep(Lease lease, String name, String json) {
        return file.move(now -> {
            int rows = file.db().run("""
                INSERT INTO step (job, name, value) SELECT id, ?, ? FROM job WHERE id = ? AND state = 'claimed' AND token = ?
                ON CONFLICT (job, name) DO UPDATE SET value = excluded.value""", name, json, lease.id(), lease.token());
            if (rows == 0) {
                noteLost(lease, now, "step " + name);
                return false;
            }
            file.ledger().write(now, lease.id(), "step", lease.attempt(), lease.worker(), Map.of("name", name));
            return true;
        });
    }

    /** Name and JSON value of each stored step, in the order of their names. */
    public Map<String, String> steps(long id) {
        Map<String, String> steps = new LinkedHashMap<>();
        file.look(() -> file.db().all("SELECT name, value FROM step WHERE job = ? ORDER BY name",
            r -> steps.put(r.getString(1), r.getString(2)), id));
        return steps;
    }

    // ---- looking

    /** Several looks at one moment of the queue. */
    public <T> T atOnce(Supplier<T> looks) {
        return file.atOnce(looks);
    }

    public Optional<JobRecord> job(long id) {
        return file.look(() -> file.db().one(ROW, JobRow::read, id));
    }

    public List<Event> history(long id) {
        return file.look(() -> file.ledger().of(id));
    }

    List<Event> ledger() {
        return file.look(() -> file.ledger().all());
    }

    /** All jobs, oldest first. */
    public List<JobRecord> list() {
        return list(Filter.ALL);
    }

    /** Which jobs to list; null for any. @param newest at most so many, the newest ones */
    public record Filter(State state, String job, Long batch, Integer newest) {
        public static final Filter ALL = new Filter(null, null, null, null);
    }

    public List<JobRecord> list(Filter f) {
        return file.look(() -> {
            List<JobRecord> rows = file.db().all("SELECT * FROM job" + where(f) + " ORDER BY id DESC LIMIT ?", JobRow::read,
                args(f, f.newest == null ? -1 : f.newest));
            Collections.reverse(rows);
            return rows;
        });
    }

    public boolean hasBatch(long batch) {
        return file.look(() -> file.db().number("SELECT count(*) FROM batch WHERE id = ?", batch)) == 1;
    }

    public long count(Filter f) {
        return file.look(() -> file.db().number("SELECT count(*) FROM job" + where(f), args(f)));
    }

    private static String where(Filter f) {
        List<String> terms = new ArrayList<>();
        if (f.state != null) {
            // What is claimed is found through the index of open jobs, since it is few of many.
            terms.add(f.state == State.CLAIMED ? "state = ? AND finished IS NULL" : "state = ?");
        }
        if (f.job != null) {
            terms.add("job = ?");
        }
        if (f.batch != null) {
            terms.add("batch = ? AND id >= (SELECT first_job FROM batch WHERE id = ?) AND id <= (SELECT last_job FROM batch WHERE id = ?)");
        }
        return terms.isEmpty() ? "" : " WHERE " + String.join(" AND ", terms);
    }

    private static Object[] args(Filter f, Object... last) {
        List<Object> args = new ArrayList<>();
        args.add(f.state == null ? null : f.state.word());
        args.add(f.job);
        args.addAll(Arrays.asList(f.batch, f.batch, f.batch));
        args.removeIf(Objects::isNull);
        args.addAll(List.of(last));
        return args.toArray();
    }

    /** How many jobs stand where; every state has its number. */
    public Map<State, Long> counts() {
        Map<State, Long> counts = new EnumMap<>(State.class);
        for (State s : State.values()) {
            counts.put(s, 0L);
        }
        // What is done has no index of its own: it is what is left of all.
        file.look(() -> file.db().all("""
            SELECT 'done' AS state, count(*) AS n FROM job
            UNION ALL SELECT state, count(*) FROM job WHERE finished IS NULL GROUP BY state
            UNION ALL SELECT state, count(*) FROM job WHERE state IN ('failed', 'cancelled') GROUP BY state""",
            r -> counts.put(State.of(r.getString("state")), r.getLong("n"))));
        long others = counts.entrySet().stream().filter(c -> c.getKey() != State.DONE).mapToLong(Map.Entry::getValue).sum();
        counts.merge(State.DONE, -others, Long::sum);
        return counts;
    }

    long now() {
        return file.now();
    }

    private JobRecord known(long id) throws SQLException {
        return file.db().one(ROW, JobRow::read, id).orElseThrow(() -> noSuchJob(id));
    }

    public static SlothException noSuchJob(long id) {
        return SlothException.refused("no job " + id + "; 'slothq list' shows the jobs there are");
    }

    // ---- the file

    /** Several moves as one transaction: all of them, or none. */
    public <T> T together(Supplier<T> moves) {
        return file.together(moves);
    }

    /** The queue as a whole. */
    Overview overview() {
        return new Overview(file, this::isDead);
    }

    /** A copy that is a working queue, while others work on. @throws SlothException when the file is there already */
    public void backup(Path copy) {
        file.backup(copy);
    }

    void tidy() {
        file.tidy();
    }

    @Override public void close() {
        file.close();
    }

    private static Map<String, Object> detail(String name, Object value) {
        return Collections.singletonMap(name, value);
    }

    private static Map<String, Object> merged(Map<String, Object> a, Map<String, Object> b) {
        Map<String, Object> all = new LinkedHashMap<>(a);
        all.putAll(b);
        return all;
    }
}
