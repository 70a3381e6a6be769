package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongSupplier;

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
    /** "Not now" waits 2 s, then twice as long at each such word in a row, up to the job's own cap. */
    private static final Duration NOT_NOW_BASE = Duration.ofSeconds(2);
    /** A heartbeat that waited longer would look like time that went by without us; the next beat tries again. */
    private static final Duration HEARTBEAT_BUSY_MOST = Duration.ofSeconds(1);
    /** Longer text is cut: a message is a line for the eye, the log has the rest. */
    public static final int MESSAGE_CHARS = 500;

    /** Where connections come from, so that a test can hand out ones that fail. */
    interface Source {
        Connection connect() throws SQLException;
    }

    /** What a connection is for. */
    enum Use { MOVES, HEARTBEATS, LOOKS }

    private interface Move<T> {
        T at(long now) throws SQLException;
    }

    private interface Look<T> {
        T read() throws SQLException;
    }

    private final QueueFolder folder;
    private final Path file;
    private final Source source;
    private final Clock clock;
    private final Use use;
    private Evidence evidence;
    private Db db;
    private Ledger ledger;
    private Roster roster;
    private Object fileKey;
    private String uuid;
    private boolean moving;
    private boolean stale;
    private long movingAt;

    /** Opens the queue of a folder, and makes it where there is none. */
    public static SlothQueue open(Path folder) {
        return open(new QueueFolder(folder), Clock.system());
    }

    static SlothQueue open(QueueFolder folder, Clock clock) {
        folder.prepare();
        return new SlothQueue(folder, () -> Db.connect(folder.database()), clock, Use.MOVES);
    }

    /**
     * For heartbeats, on a connection of its own, so that they wait for no other work. They need not survive a power
     * cut, since the worker does not: its commits skip the wait for the disk.
     */
    static SlothQueue openForHeartbeats(QueueFolder folder, Clock clock) {
        return new SlothQueue(folder, () -> Db.connect(folder.database()), clock, Use.HEARTBEATS);
    }

    /** To look only: creates and changes nothing. A folder whose queue was never used looks empty. */
    public static SlothQueue look(QueueFolder folder) {
        boolean used = folder.database().toFile().length() > 0;
        return new SlothQueue(folder, () -> used ? Db.connect(folder.database()) : DriverManager.getConnection("jdbc:sqlite::memory:"),
            Clock.system(), Use.LOOKS);
    }

    SlothQueue(QueueFolder folder, Source source, Clock clock, Use use) {
        NativeLibrary.unpackOnce();
        this.folder = folder;
        this.file = folder.database();
        this.source = source;
        this.clock = clock;
        this.use = use;
        this.evidence = new Evidence(new WorkerLocks(folder.locks()), clock::nanos);
        connect();
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
        return move(now -> {
            Optional<JobRecord> added = insert(job, null, now);
            return added.isPresent() ? added.get() : holder(job.effectiveKey()).orElseThrow();
        });
    }

    /** What {@link #addAll} did. */
    public record Batch(long batch, int added, int existing) {
    }

    /** Adds many in one transaction, all or none, as one batch. Those whose key is held already are counted, not added. */
    public Batch addAll(String job, Iterator<NewJob> jobs) {
        return move(now -> {
            long batch = db.number("INSERT INTO batch (job, created) VALUES (?, ?) RETURNING id", job, now);
            int added = 0;
            int existing = 0;
            while (jobs.hasNext()) {
                boolean fresh = insert(jobs.next(), batch, now).isPresent();
                added += fresh ? 1 : 0;
                existing += fresh ? 0 : 1;
            }
            return new Batch(batch, added, existing);
        });
    }

    /**
     * A job for each line of UTF-8 text, the whole line as one last argument; Windows line ends are taken off, empty
     * lines passed over.
     */
    public Batch addEach(NewJob job, java.io.InputStream lines) throws IOException {
        try (var reader = new java.io.BufferedReader(new java.io.InputStreamReader(lines, java.nio.charset.StandardCharsets.UTF_8))) {
            return addAll(job.job() == null ? job.command().get(0) : job.job(),
                reader.lines().filter(line -> !line.isEmpty()).map(job::withLast).iterator());
        } catch (java.io.UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private Optional<JobRecord> insert(NewJob job, Long batch, long now) throws SQLException {
        Options o = job.options();
        long notBefore = job.delay() == null ? job.notBefore() : now + job.delay().toMillis();
        boolean due = notBefore <= now;
        // The partial unique index decides who holds a key, whoever asked first.
        Optional<JobRecord> row = db.one("""
            INSERT INTO job (job, command, args, due, not_before, delay_ms, priority, max_attempts, backoff_ms, backoff_cap_ms,
                             lease_ms, timeout_ms, stall_ms, key, batch, discovered, content, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (key) WHERE key IS NOT NULL AND state IN ('pending', 'claimed') DO NOTHING
            RETURNING *""", SlothQueue::job,
            job.job(), job.command() == null ? null : Json.strings(job.command()), Json.strings(job.args()), due ? 1 : 0,
            due ? 0 : notBefore, job.delay() == null ? null : job.delay().toMillis(), o.priority(), o.attempts(),
            o.backoff().base().toMillis(), o.backoff().cap().toMillis(), o.lease().toMillis(), millis(o.timeout()), millis(o.stall()),
            job.effectiveKey(), batch, job.content() == null ? 0 : 1, job.content(), now);
        if (row.isPresent()) {
            ledger.write(now, row.get().id(), "added", null, null, Map.of());
        }
        return row;
    }

    private Optional<JobRecord> holder(String key) throws SQLException {
        return db.one("SELECT * FROM job WHERE key = ? AND state IN ('pending', 'claimed')", SlothQueue::job, key);
    }

    /** Takes the first due job, highest priority, then lowest id, after taking back what was lost. */
    public Optional<Lease> claim(String worker) {
        return move(now -> {
            takeBackLost(now, null);
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
        return move(now -> {
            Optional<Lease> lease = next(worker, only, now);
            if (lease.isPresent()) {
                roster.starting(lease.get(), mark(lease.get()), Host.here());
            }
            return lease;
        });
    }

    private Optional<Lease> next(String worker, Collection<String> only, long now) throws SQLException {
        db.run(PROMOTE, now);
        return take(worker, only, now);
    }

    /** Rows that wait are kept apart, so that a million of them cost a claim nothing. */
    static final String PROMOTE = "UPDATE job SET due = 1 WHERE state = 'pending' AND due = 0 AND not_before <= ?";

    private static final String CLAIM = """
        UPDATE job SET state = 'claimed', attempts = attempts + 1, claims = claims + 1, worker = ?, token = ?, lease_until = ? + lease_ms
        WHERE id = (SELECT id FROM job WHERE state = 'pending' AND due = 1 %s
                      AND NOT EXISTS (SELECT 1 FROM process p WHERE p.job = job.id)
                    ORDER BY priority DESC, id LIMIT 1)
        RETURNING *""";
    static final String CLAIM_ANY = CLAIM.formatted("");
    static final String CLAIM_OF = CLAIM.formatted("AND job IN (SELECT value FROM json_each(?))");


    private Optional<Lease> take(String worker, Collection<String> only, long now) throws SQLException {
        String token = UUID.randomUUID().toString();
        while (true) {
            try {
                Optional<JobRecord> row = only.isEmpty()
                    ? db.one(CLAIM_ANY, SlothQueue::readable, worker, token, now)
                    : db.one(CLAIM_OF, SlothQueue::readable, worker, token, now, Json.strings(List.copyOf(only)));
                if (row.isPresent()) {
                    ledger.write(now, row.get().id(), "claimed", row.get().attempts(), worker, Map.of("claim", row.get().claims()));
                }
                return row.map(job -> new Lease(job, worker, token, job.leaseUntil()));
            } catch (UnreadableRow e) {
                // It would block the head of the queue for ever: it fails with a reason, and the next one goes out.
                spoil(e, now);
            }
        }
    }

    private void spoil(UnreadableRow e, long now) throws SQLException {
        String message = "unreadable row: " + e.getMessage();
        db.run("""
            UPDATE job SET state = 'failed', attempts = attempts - 1, token = NULL, worker = NULL, lease_until = NULL,
                           message = ?, finished = ? WHERE id = ?""", message, now, e.id);
        ledger.write(now, e.id, "failed", null, null, Map.of("reason", message, "message", message));
    }

    /** Moves the lease on to now + its length. @return false when it is no longer held */
    public boolean heartbeat(Lease lease) {
        return move(now -> db.run("""
            UPDATE job SET lease_until = ? + lease_ms WHERE id = ? AND state = 'claimed' AND token = ?""",
            now, lease.id(), lease.token()) == 1);
    }

    /** A look at the fence: cheap, and changes nothing. */
    boolean isHeld(Lease lease) {
        return look(() -> db.number("SELECT count(*) FROM job WHERE id = ? AND state = 'claimed' AND token = ?", lease.id(), lease.token()) == 1);
    }

    /** Ends the job well. @return false when the lease was lost: then nothing changed but a line in the ledger */
    public boolean complete(Lease lease, String message) {
        String text = clean(message);
        return move(now -> ended(lease, now, "done", detail("message", text), db.run("""
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
        return move(now -> retryLater(lease, now, clean(message), lease.job().options().backoff().after(lease.attempt()), 0, detail));
    }

    /** Fails the job at once, attempts left or not. */
    boolean giveUp(Lease lease, String message, Map<String, Object> detail) {
        String text = clean(message);
        return move(now -> ended(lease, now, "failed", merged(detail, detail("message", text)), db.run("""
            UPDATE job SET state = 'failed', message = ?, finished = ?, token = NULL, worker = NULL, lease_until = NULL, not_nows = 0
            WHERE id = ? AND state = 'claimed' AND token = ?""", text, now, lease.id(), lease.token())));
    }

    /** The time is not right (exit 75): pending again after a wait that doubles, the attempt not counted. */
    boolean notNow(Lease lease, String message) {
        return move(now -> {
            int before = (int) db.number("SELECT not_nows FROM job WHERE id = ?", lease.id());
            Duration cap = lease.job().options().backoff().cap();
            Duration wait = cap.compareTo(NOT_NOW_BASE) < 0 ? cap : new Backoff(NOT_NOW_BASE, cap).after(before + 1);
            return retryLater(lease, now, clean(message), wait, 1, Map.of("reason", NOT_NOW));
        });
    }

    private boolean retryLater(Lease lease, long now, String message, Duration wait, int uncounted, Map<String, Object> detail) throws SQLException {
        long next = now + wait.toMillis();
        int rows = db.run("""
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
        return move(now -> ended(lease, now, "released", Map.of(), db.run("""
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
            roster.gone(lease.id(), lease.claim());
            return false;
        }
        ledger.write(now, lease.id(), event, lease.attempt(), lease.worker(), detail);
        roster.gone(lease.id(), lease.claim());
        return true;
    }

    /** For a worker that found its lease lost and has ended the job's processes. */
    void lost(Lease lease) {
        move(now -> {
            noteLost(lease, now, null);
            roster.gone(lease.id(), lease.claim());
            return null;
        });
    }

    private void noteLost(Lease lease, long now, String refused) throws SQLException {
        // A job that was cancelled or pruned meanwhile has nothing to tell.
        if (db.number("SELECT count(*) FROM job WHERE id = ? AND state <> 'cancelled'", lease.id()) == 1) {
            ledger.write(now, lease.id(), "lease-lost", lease.attempt(), lease.worker(), refused == null ? Map.of() : Map.of("refused", refused));
        }
    }

    // ---- by hand

    /** Stays cancelled whatever its worker says later. Its processes are the worker's to end: see {@link #processesOf}. */
    public JobRecord cancel(long id) {
        return move(now -> {
            Optional<JobRecord> row = db.one("""
                UPDATE job SET state = 'cancelled', finished = ?, token = NULL, worker = NULL, lease_until = NULL
                WHERE id = ? AND state IN ('pending', 'claimed') RETURNING *""", SlothQueue::job, now, id);
            if (row.isEmpty()) {
                throw SlothException.refused("job " + id + " is " + known(id).state() + "; only a pending or claimed job can be cancelled");
            }
            ledger.write(now, id, "cancelled", row.get().attempts() == 0 ? null : row.get().attempts(), null, Map.of());
            return row.get();
        });
    }

    /** Makes a failed or cancelled job pending again with attempts 0; its history stays. */
    public JobRecord retry(long id) {
        return retry(id, false);
    }

    /** @param fresh whether its stored steps go, so that all of its work is done again */
    JobRecord retry(long id, boolean fresh) {
        return move(now -> {
            JobRecord job = known(id);
            if (job.state() != State.FAILED && job.state() != State.CANCELLED) {
                throw SlothException.refused("job " + id + " is " + job.state() + "; only a failed or cancelled job can be retried");
            }
            Optional<JobRecord> holder = job.key() == null ? Optional.empty() : holder(job.key());
            if (holder.isPresent()) {
                throw SlothException.refused("job " + id + " cannot be retried: job " + holder.get().id() + " holds its key '" + job.key() + "' now");
            }
            if (fresh) {
                db.run("DELETE FROM step WHERE job = ?", id);
            }
            JobRecord row = db.one("""
                UPDATE job SET state = 'pending', due = 1, not_before = 0, delay_ms = NULL, attempts = 0, not_nows = 0, finished = NULL,
                               progress_done = NULL, progress_total = NULL, progress_note = NULL
                WHERE id = ? AND state IN ('failed', 'cancelled') RETURNING *""", SlothQueue::job, id).orElseThrow();
            ledger.write(now, id, "requeued", null, null, fresh ? Map.of("fresh", true) : Map.of());
            return row;
        });
    }

    /** All or none. */
    public List<JobRecord> retryAll(List<Long> ids, boolean fresh) {
        return together(() -> ids.stream().map(id -> retry(id, fresh)).toList());
    }

    /** All that failed, but those whose key another job holds now. @param passedOver hears of these */
    public void retryFailed(boolean fresh, java.util.function.Consumer<JobRecord> retried, java.util.function.Consumer<String> passedOver) {
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
        return move(now -> {
            List<Long> gone = db.all("""
                DELETE FROM job WHERE state IN ('done', 'failed', 'cancelled') AND finished <= ?
                  AND NOT EXISTS (SELECT 1 FROM process p WHERE p.job = job.id)
                  AND NOT (discovered = 1 AND id = (SELECT max(d.id) FROM job d WHERE d.discovered = 1 AND d.job = job.job))
                  AND (batch IS NULL OR NOT EXISTS (SELECT 1 FROM job b WHERE b.batch = job.batch
                                                    AND (b.state IN ('pending', 'claimed') OR b.finished > ?
                                                         OR EXISTS (SELECT 1 FROM process p WHERE p.job = b.id))))
                RETURNING id""", r -> r.getLong(1), now - older.toMillis(), now - older.toMillis());
            if (!gone.isEmpty()) {
                db.run("DELETE FROM event WHERE job IN (SELECT value FROM json_each(?))", Json.text(gone));
                ledger.write(now, null, "pruned", null, null, Map.of("jobs", gone.size(), "older", Durations.format(older)));
            }
            return gone;
        });
    }

    // ---- reclaim

    /**
     * Takes back what dead and hung workers left. A job goes out again only when its processes are known to be gone.
     *
     * @param me whose own claims are left alone: it knows of them itself
     * @return the jobs as they are now: pending, or failed for want of attempts
     */
    List<JobRecord> reclaim(String me) {
        return move(now -> takeBackLost(now, me));
    }

    private List<JobRecord> takeBackLost(long now, String me) throws SQLException {
        List<Evidence.Claim> others = db.all("SELECT * FROM job WHERE state = 'claimed' AND worker IS NOT ?", r -> new Evidence.Claim(
            r.getLong("id"), r.getString("worker"), r.getString("token"), r.getLong("lease_until"), Duration.ofMillis(r.getLong("lease_ms"))), me);
        Map<String, Optional<Roster.WorkerRecord>> workers = new HashMap<>();
        List<JobRecord> taken = new ArrayList<>();
        for (Evidence.Claim claim : others) {
            if (!workers.containsKey(claim.worker())) {
                workers.put(claim.worker(), roster.worker(claim.worker()));
            }
            Optional<String> why = evidence.against(claim, workers.get(claim.worker()), now);
            if (why.isPresent()) {
                takeBack(claim, why.get(), now).ifPresent(taken::add);
            }
        }
        return taken;
    }

    /** One conditional statement: a word that came in since the claim was read wins. Its processes keep their record. */
    private Optional<JobRecord> takeBack(Evidence.Claim claim, String why, long now) throws SQLException {
        Optional<JobRecord> row = db.one("""
            UPDATE job SET state = iif(attempts < max_attempts, 'pending', 'failed'), due = 1, not_before = 0, delay_ms = NULL, not_nows = 0,
                           finished = iif(attempts < max_attempts, NULL, ?),
                           message = iif(attempts < max_attempts, '', 'stranded: ') || ? || iif(attempts < max_attempts, '',
                                     ' in attempt ' || attempts || ' of ' || max_attempts),
                           token = NULL, worker = NULL, lease_until = NULL
            WHERE id = ? AND state = 'claimed' AND token = ? RETURNING *""", SlothQueue::job, now, why, claim.id(), claim.token());
        if (row.isPresent()) {
            JobRecord job = row.get();
            ledger.write(now, job.id(), job.state() == State.FAILED ? "failed" : "reclaimed", job.attempts(), claim.worker(),
                Map.of("reason", why, "message", job.message()));
        }
        return row;
    }

    // ---- workers and their processes

    void enter(String worker, long pid) {
        move(now -> {
            roster.enter(worker, Host.here(), pid, now);
            return null;
        });
    }

    /** Its claims must be over: one that is left behind would be taken for a claim without a lock. */
    void leave(String worker) {
        move(now -> {
            if (db.number("SELECT count(*) FROM job WHERE state = 'claimed' AND worker = ?", worker) == 0) {
                roster.leave(worker);
            }
            return null;
        });
    }

    List<Roster.WorkerRecord> workers() {
        return look(() -> roster.workers());
    }

    /** Whether some worker of this machine lives; one of another host is believed. */
    public boolean hasLiveWorker() {
        return workers().stream().anyMatch(w -> !isDead(w));
    }

    boolean isDead(Roster.WorkerRecord worker) {
        return evidence.isDead(worker);
    }

    boolean isDead(String worker) {
        return look(() -> roster.worker(worker)).map(evidence::isDead).orElse(true);
    }

    void started(Lease lease, ProcessTree tree) {
        move(now -> {
            roster.started(lease, tree);
            return null;
        });
    }

    /** Processes whose claim is over, though they may live. */
    List<Roster.ProcessRecord> strays() {
        return look(() -> roster.strays());
    }

    public boolean hasProcesses(long job) {
        return !processesOf(job).isEmpty();
    }

    List<Roster.ProcessRecord> processesOf(long job) {
        return look(() -> roster.of(job));
    }

    /** Nothing of this claim is alive any more. */
    void gone(Roster.ProcessRecord process) {
        move(now -> {
            roster.gone(process.job(), process.claim());
            return null;
        });
    }

    /** What {@code SLOTHQ_RUN} holds in this claim's processes: unlike the token no secret, unlike a pid never used again. */
    String mark(Lease lease) {
        return uuid + ":" + lease.id() + "." + lease.claim();
    }

    // ---- while it runs

    /** Writes how far the job is, and which file content it runs. @return false when the lease is lost */
    boolean progress(Lease lease, JobRecord.Progress p) {
        return move(now -> db.run("""
            UPDATE job SET progress_done = ?, progress_total = ?, progress_note = ? WHERE id = ? AND state = 'claimed' AND token = ?""",
            p.done(), p.total(), p.note() == null ? null : clean(p.note()), lease.id(), lease.token()) == 1);
    }

    /** Notes the content that this claim runs: discovery compares with it. */
    void runs(Lease lease, String content) {
        if (!Objects.equals(content, look(() -> db.one("SELECT content FROM job WHERE id = ?", r -> r.getString(1), lease.id())).orElse(null))) {
            move(now -> db.run("UPDATE job SET content = ? WHERE id = ? AND state = 'claimed' AND token = ?", content, lease.id(), lease.token()));
        }
    }

    /** The worker noticed that time went by without it. */
    void slept(Lease lease, Duration length, String kind) {
        move(now -> {
            ledger.write(now, lease.id(), "slept", lease.attempt(), lease.worker(), Map.of("ms", length.toMillis(), "kind", kind));
            return null;
        });
    }

    /** The pulse saw the wall clock go forward by itself. Steps back show in the ledger: see {@link #mindTheClock}. */
    void steppedForward(Duration by) {
        move(now -> {
            ledger.write(now, null, "clock-stepped", null, null, Map.of("ms", by.toMillis()));
            return null;
        });
    }

    /** Stores what a step of the job gave. @return false when the lease is lost: the step does not count */
    boolean keepStep(Lease lease, String name, String json) {
        return move(now -> {
            int rows = db.run("""
                INSERT INTO step (job, name, value) SELECT id, ?, ? FROM job WHERE id = ? AND state = 'claimed' AND token = ?
                ON CONFLICT (job, name) DO UPDATE SET value = excluded.value""", name, json, lease.id(), lease.token());
            if (rows == 0) {
                noteLost(lease, now, "step " + name);
                return false;
            }
            ledger.write(now, lease.id(), "step", lease.attempt(), lease.worker(), Map.of("name", name));
            return true;
        });
    }

    /** Name and JSON value of each stored step, in the order of their names. */
    public Map<String, String> steps(long id) {
        Map<String, String> steps = new LinkedHashMap<>();
        look(() -> db.all("SELECT name, value FROM step WHERE job = ? ORDER BY name", r -> steps.put(r.getString(1), r.getString(2)), id));
        return steps;
    }

    // ---- looking

    public Optional<JobRecord> job(long id) {
        return look(() -> db.one("SELECT * FROM job WHERE id = ?", SlothQueue::job, id));
    }

    public List<Event> history(long id) {
        return look(() -> ledger.of(id));
    }

    List<Event> ledger() {
        return look(() -> ledger.all());
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
        return look(() -> {
            List<JobRecord> rows = db.all("SELECT * FROM job" + where(f) + " ORDER BY id DESC LIMIT ?", SlothQueue::job,
                args(f, f.newest == null ? -1 : f.newest));
            java.util.Collections.reverse(rows);
            return rows;
        });
    }

    public long count(Filter f) {
        return look(() -> db.number("SELECT count(*) FROM job" + where(f), args(f)));
    }

    private static String where(Filter f) {
        List<String> terms = new ArrayList<>();
        if (f.state != null) {
            terms.add("state = ?");
        }
        if (f.job != null) {
            terms.add("job = ?");
        }
        if (f.batch != null) {
            terms.add("batch = ?");
        }
        return terms.isEmpty() ? "" : " WHERE " + String.join(" AND ", terms);
    }

    private static Object[] args(Filter f, Object... last) {
        List<Object> args = new ArrayList<>();
        args.add(f.state == null ? null : f.state.word());
        args.add(f.job);
        args.add(f.batch);
        args.removeIf(Objects::isNull);
        args.addAll(List.of(last));
        return args.toArray();
    }

    /** Pending jobs by when they fall due. @param only names of job files; empty for any */
    List<JobRecord> pending(Collection<String> only, int most) {
        return look(() -> db.all("""
            SELECT * FROM job WHERE state = 'pending' AND (? = 0 OR job IN (SELECT value FROM json_each(?)))
            ORDER BY due DESC, not_before, id LIMIT ?""", SlothQueue::job, only.size(), Json.strings(List.copyOf(only)), most));
    }

    /** How a batch stands. @param left pending or running with a live worker */
    public record BatchCounts(long batch, String job, long done, long failed, long stranded, long left) {
    }

    /** Batches that are not through yet, oldest first. */
    public List<BatchCounts> openBatches() {
        return look(() -> db.all("""
            SELECT b.id, b.job, (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'done') AS done,
                   (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'failed') AS failed,
                   (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'pending')
                     + (SELECT count(*) FROM job j WHERE j.batch = b.id AND j.state = 'claimed') AS open
            FROM batch b WHERE EXISTS (SELECT 1 FROM job j WHERE j.batch = b.id AND j.state = 'pending')
                            OR EXISTS (SELECT 1 FROM job j WHERE j.batch = b.id AND j.state = 'claimed') ORDER BY b.id""", r -> {
            long id = r.getLong("id");
            long stranded = stranded().stream().filter(j -> j.batch() != null && j.batch() == id).count();
            return new BatchCounts(id, r.getString("job"), r.getLong("done"), r.getLong("failed"), stranded, r.getLong("open") - stranded);
        }));
    }

    /** How many jobs stand where; every state has its number. */
    public Map<State, Long> counts() {
        Map<State, Long> counts = new java.util.EnumMap<>(State.class);
        for (State s : State.values()) {
            counts.put(s, 0L);
        }
        look(() -> db.all("SELECT state, count(*) FROM job GROUP BY state", r -> counts.put(State.of(r.getString(1)), r.getLong(2))));
        return counts;
    }

    /** Epoch ms of the newest line in the ledger, 0 for none. */
    long newestEvent() {
        return look(() -> ledger.newest());
    }

    /** Pending jobs that are due, as of the last claim. @param only names of job files; empty for any */
    long dueCount(Collection<String> only) {
        return look(() -> only.isEmpty() ? db.number("SELECT count(*) FROM job WHERE state = 'pending' AND due = 1")
            : db.number("SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND job IN (SELECT value FROM json_each(?))",
                Json.strings(List.copyOf(only))));
    }

    long now() {
        return clock.millis();
    }

    /** Pending jobs that a claim could take now, by the clock. */
    public long due() {
        return look(() -> db.number("SELECT count(*) FROM job WHERE state = 'pending' AND (due = 1 OR not_before <= ?)", clock.millis()));
    }

    /** Epoch ms at which the first waiting job falls due. @param only names of job files; empty for any */
    public Optional<Long> nextDue(Collection<String> only) {
        return look(() -> only.isEmpty()
            ? db.one("SELECT min(not_before) FROM job WHERE state = 'pending' AND due = 0", r -> Roster.nullable(r, "min(not_before)"))
            : db.one("""
                SELECT min(not_before) AS first FROM job WHERE state = 'pending' AND due = 0
                  AND job IN (SELECT value FROM json_each(?))""", r -> Roster.nullable(r, "first"), Json.strings(List.copyOf(only))));
    }

    /** Pending jobs that are due, and jobs claimed by others whose lease is over: what a worker may still wait for. */
    long dueOrOverdue(Collection<String> only, String me) {
        long now = clock.millis();
        String names = Json.strings(List.copyOf(only));
        return look(() -> db.number("""
            SELECT (SELECT count(*) FROM job WHERE state = 'pending' AND due = 1 AND (? = 0 OR job IN (SELECT value FROM json_each(?))))
                 + (SELECT count(*) FROM job WHERE state = 'claimed' AND lease_until <= ? AND worker <> ?
                      AND (? = 0 OR job IN (SELECT value FROM json_each(?))))""",
            only.size(), names, now, me, only.size(), names));
    }

    /** Claimed jobs whose worker is dead, or whose lease is over. */
    public List<JobRecord> stranded() {
        long now = clock.millis();
        return look(() -> {
            List<JobRecord> claimed = db.all("SELECT * FROM job WHERE state = 'claimed' ORDER BY id", SlothQueue::job);
            List<JobRecord> stranded = new ArrayList<>();
            for (JobRecord job : claimed) {
                Optional<Roster.WorkerRecord> worker = roster.worker(job.worker());
                if (job.leaseUntil() <= now || worker.isPresent() && evidence.isDead(worker.get())) {
                    stranded.add(job);
                }
            }
            return stranded;
        });
    }

    /** Job files that have a job pending or claimed. */
    java.util.Set<String> livingFiles() {
        return new java.util.HashSet<>(look(() -> db.all(
            "SELECT DISTINCT job FROM job WHERE state IN ('pending', 'claimed') AND job IS NOT NULL", r -> r.getString(1))));
    }

    /** Digest of what the file's newest discovered job ran. */
    Optional<String> lastContent(String job) {
        return look(() -> db.one("SELECT content FROM job WHERE discovered = 1 AND job = ? ORDER BY id DESC LIMIT 1", r -> r.getString(1), job));
    }

    private JobRecord known(long id) throws SQLException {
        return db.one("SELECT * FROM job WHERE id = ?", SlothQueue::job, id).orElseThrow(() -> noSuchJob(id));
    }

    public static SlothException noSuchJob(long id) {
        return SlothException.refused("no job " + id + "; 'slothq list' shows the jobs there are");
    }

    // ---- the file

    /** Several moves as one transaction: all of them, or none. */
    public synchronized <T> T together(java.util.function.Supplier<T> moves) {
        return move(now -> moves.get());
    }

    private synchronized <T> T move(Move<T> move) {
        try {
            if (moving) {
                return move.at(movingAt);
            }
            begin();
            T result;
            try {
                mindTheClock(movingAt);
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
            throw Trouble.of(file, e);
        }
    }

    private void freshen() {
        if (stale && !moving) {
            closeQuietly();
            connect();
            stale = false;
        }
    }

    /** What cannot even be undone may still be open: then the next move or look starts on a fresh connection. */
    private void undo(Throwable first) {
        stale = !db.rollback(first) && !(first instanceof SQLException e && Trouble.isBusy(e));
    }

    private void begin() throws SQLException {
        checkFile();
        freshen();
        // The write lock first, and then the clock: so the ledger's times go back only when the clock does.
        try {
            db.run("BEGIN IMMEDIATE");
        } catch (SQLException e) {
            // Should it have begun all the same, the next one could not.
            undo(e);
            throw e;
        }
        movingAt = clock.millis();
        ledger.begin();
        moving = true;
    }

    private void commit() throws SQLException {
        try {
            db.run("COMMIT");
        } catch (SQLException e) {
            // It may be in the file all the same: say that it failed only after a look with fresh eyes.
            reconnect(e);
            if (!ledger.holdsLast()) {
                throw e;
            }
        }
    }

    private void reconnect(SQLException first) throws SQLException {
        try {
            Ledger pending = ledger;
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
    private void mindTheClock(long now) throws SQLException {
        long newest = ledger.newest();
        if (newest <= now) {
            return;
        }
        db.run("UPDATE job SET not_before = ? + delay_ms WHERE state = 'pending' AND due = 0 AND not_before > ? + delay_ms", now, now);
        db.run("UPDATE job SET lease_until = ? + lease_ms WHERE state = 'claimed' AND lease_until > ? + lease_ms", now, now);
        ledger.write(now, null, "clock-stepped", null, null, Map.of("ms", now - newest));
    }

    private synchronized <T> T look(Look<T> look) {
        try {
            freshen();
            return look.read();
        } catch (SQLException e) {
            throw Trouble.of(file, e);
        }
    }

    private void connect() {
        try {
            db = new Db(source.connect());
            db.waitWithJitter(use == Use.HEARTBEATS ? HEARTBEAT_BUSY_MOST : Db.BUSY_MOST);
            Schema.apply(db, file, Schema.MIGRATIONS);
            switch (use) {
                case MOVES -> { }
                case HEARTBEATS -> db.script("PRAGMA synchronous = NORMAL");
                case LOOKS -> db.script("PRAGMA query_only = 1");
            }
            ledger = new Ledger(db);
            roster = new Roster(db);
            fileKey = fileKey();
            uuid = db.one("SELECT value FROM meta WHERE name = 'uuid'", r -> r.getString(1)).orElseThrow();
        } catch (SQLException e) {
            closeQuietly();
            throw Trouble.of(file, e);
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
            throw SlothException.unusable(file + " was moved, deleted or replaced while it was in use; nothing more is written to it."
                + " Put it back, or start again where it is now", null);
        }
    }

    private Object fileKey() {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
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
    public synchronized void backup(Path copy) {
        if (Files.exists(copy)) {
            throw SlothException.refused(copy + " is there already; name another file");
        }
        try {
            db.run("VACUUM INTO ?", copy.toAbsolutePath().toString());
        } catch (SQLException e) {
            // Half a copy must not be taken for a backup.
            copy.toFile().delete();
            throw Trouble.of(Trouble.isDamage(e) ? file : copy.toAbsolutePath(), e);
        }
    }

    /** Moves what the WAL holds into the file, and cuts it to nothing, when nobody else is at work. */
    void tidy() {
        look(() -> db.number("PRAGMA wal_checkpoint(TRUNCATE)"));
    }

    /** Whether the file is sound, in SQLite's own words: "ok", or what is wrong with it. */
    List<String> integrity() {
        return look(() -> db.all("PRAGMA integrity_check(5)", r -> r.getString(1)));
    }

    /** Jobs that the ledger tells another story of than their rows. */
    List<Long> contradictions() {
        Map<Long, Ledger.Standing> told = Ledger.replay(ledger());
        return list().stream().filter(j -> !new Ledger.Standing(j.state(), j.attempts(), null).agreesWith(told.get(j.id()))).map(JobRecord::id).toList();
    }

    @Override public synchronized void close() {
        closeQuietly();
    }

    // ---- rows

    /** A row that no program could have written: it is failed by itself, and must not stop the others. */
    private static final class UnreadableRow extends RuntimeException {
        final long id;

        UnreadableRow(long id, String why) {
            super(why);
            this.id = id;
        }
    }

    private static JobRecord readable(ResultSet r) throws SQLException {
        try {
            Json.strings(r.getString("args"));
            if (r.getString("command") != null) {
                Json.strings(r.getString("command"));
            }
            return job(r);
        } catch (IllegalArgumentException e) {
            throw new UnreadableRow(r.getLong("id"), e.getMessage());
        }
    }

    private static JobRecord job(ResultSet r) throws SQLException {
        State state = State.of(r.getString("state"));
        Options options = new Options(r.getInt("max_attempts"),
            new Backoff(Duration.ofMillis(r.getLong("backoff_ms")), Duration.ofMillis(r.getLong("backoff_cap_ms"))),
            Duration.ofMillis(r.getLong("lease_ms")), duration(r, "timeout_ms"), duration(r, "stall_ms"), r.getInt("priority"),
            Options.DEFAULT.run(), false);
        Long progress = Roster.nullable(r, "progress_done");
        return new JobRecord(r.getLong("id"), r.getString("job"), words(r.getString("command")), words(r.getString("args")), state,
            r.getInt("attempts"), r.getInt("claims"), options,
            state == State.PENDING && r.getInt("due") == 0 ? (Long) r.getLong("not_before") : null,
            Roster.nullable(r, "lease_until"), r.getString("worker"), r.getString("token"), r.getString("key"), Roster.nullable(r, "batch"),
            progress == null ? null : new JobRecord.Progress(progress, Roster.nullable(r, "progress_total"), r.getString("progress_note")),
            r.getString("message"), r.getLong("created"), Roster.nullable(r, "finished"));
    }

    /** For the eye an unreadable vector is one word, as it stands. */
    private static List<String> words(String json) {
        try {
            return json == null ? null : Json.strings(json);
        } catch (IllegalArgumentException e) {
            return List.of(json);
        }
    }

    private static Duration duration(ResultSet r, String column) throws SQLException {
        Long ms = Roster.nullable(r, column);
        return ms == null ? null : Duration.ofMillis(ms);
    }

    private static Long millis(Duration d) {
        return d == null ? null : d.toMillis();
    }

    private static Map<String, Object> detail(String name, Object value) {
        return java.util.Collections.singletonMap(name, value);
    }

    private static Map<String, Object> merged(Map<String, Object> a, Map<String, Object> b) {
        Map<String, Object> all = new LinkedHashMap<>(a);
        all.putAll(b);
        return all;
    }

    /** The first line of it, for the eye: no control characters, nothing that a file cannot store, {@link #MESSAGE_CHARS} at most. */
    static String clean(String message) {
        if (message == null) {
            return null;
        }
        String line = message.lines().filter(l -> !l.isBlank()).findFirst().orElse("").replaceAll("\\p{Cntrl}+", " ").replaceAll("[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]", "?").strip();
        if (line.length() <= MESSAGE_CHARS) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(MESSAGE_CHARS - 2)) ? MESSAGE_CHARS - 2 : MESSAGE_CHARS - 1;
        return line.substring(0, end) + "…";
    }
}
