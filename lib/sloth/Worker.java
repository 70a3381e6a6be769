package sloth;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Runs the jobs of one folder: claims, starts, waits, records, one step after another. It holds a lock of its own for as
 * long as it lives, which is how others know.
 */
public final class Worker implements AutoCloseable {

    /** How often an idle worker looks for work of others, and a busy one for what dead workers left. */
    private static final Duration POLL = Duration.ofMillis(500);
    /** How long a trouble that may pass (a full disk, a held lock) is left alone. */
    private static final Duration TROUBLE_PAUSE = Duration.ofSeconds(2);
    /** A worker that was asked to stop does not wait longer than this for a queue that takes no word. */
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(5);

    /**
     * @param only     names of job files to run; empty for all
     * @param patience how far ahead a waiting job is waited for
     * @param watch    stay when there is nothing to do, and take up new and changed files
     * @param echo     where jobs' output is shown; null for nowhere
     */
    public record Settings(Collection<String> only, int parallel, Duration patience, boolean watch, OutputStream echo) {
    }

    /** What the user is told while it runs. Called from several threads. */
    public interface Report {
        void started(Lease lease);

        /** @param job as it is now; @param outcome null when the attempt no longer counted */
        void ended(JobRecord job, Outcome outcome, Duration took);

        /** @param job pending again, or failed for want of attempts */
        void takenBack(JobRecord job);

        void refused(String problem);

        /** @param next epoch ms */
        void waiting(long next);

        void say(String line);

        /** Now and then while jobs run. @param open asks how many run or are due; only call it when it is needed */
        void load(LongSupplier open);
    }

    /** @param waiting jobs that are left pending; @param refused job files that cannot run */
    public record Summary(int done, int retried, int failed, long waiting, int refused) {
    }

    private final String id = Host.here().name().replaceAll("[^A-Za-z0-9.-]", "_") + "-" + ProcessHandle.current().pid()
        + "-" + Integer.toHexString(ThreadLocalRandom.current().nextInt(0x10000, 0x100000));
    private final Settings settings;
    private final Report report;
    private final SlothQueue queue;
    private final SlothQueue pulseQueue;
    private final Awake awake;
    private final Pulse pulse;
    private final Hosts hosts;
    private final Launcher launcher;
    private final WorkerLocks locks;
    private final WorkerLocks.Held lock;
    private final Collection<Running> running = new ConcurrentLinkedQueue<>();
    private final ExecutorService slots;
    private final Set<String> refused = new HashSet<>();
    /** From the pulse, for this worker's own thread to say. */
    private final Queue<String> words = new ConcurrentLinkedQueue<>();
    private final Object change = new Object();
    private volatile boolean stopping;
    private volatile RuntimeException broken;
    private boolean untidy;
    private long idleSince;
    private int busy;
    private int done;
    private int retried;
    private int failed;

    public Worker(QueueFolder folder, Clock clock, Settings settings, Report report) {
        this.settings = settings;
        this.report = report;
        this.queue = SlothQueue.open(folder, clock);
        this.pulseQueue = SlothQueue.openForHeartbeats(folder, clock);
        this.awake = new Awake(clock);
        this.queue.countAwakeBy(awake::nanos);
        this.hosts = new Hosts(folder, awake::nanos);
        this.launcher = new Launcher(folder, hosts, awake::nanos, settings.echo, report::say);
        this.locks = new WorkerLocks(folder.locks());
        this.pulse = new Pulse(pulseQueue, awake, running, this::hear, this::breakDown);
        this.slots = Executors.newFixedThreadPool(settings.parallel);
        this.lock = enter();
    }

    /** The lock first: a worker in the table without one is a dead worker. */
    private WorkerLocks.Held enter() {
        WorkerLocks.Held held = locks.take(id);
        try {
            queue.enter(id, ProcessHandle.current().pid());
            return held;
        } catch (SlothException e) {
            held.close();
            throw e;
        }
    }

    public String id() {
        return id;
    }

    /** Runs until nothing is due or falls due within the patience; with {@code watch} until it is stopped. */
    public Summary run() {
        pulse.start();
        Watch watch = new Watch(queue.folder());
        patiently(this::discover);
        idleSince = System.nanoTime();
        try {
            while (!stopping && turn()) {
                if (settings.watch && settings.only.isEmpty() && watch.hasSettled(awake.nanos())) {
                    patiently(() -> found(new Discovery(queue).discover(false)));
                }
                await(POLL);
                sayWords();
                hosts.closeIdle();
            }
        } catch (RuntimeException e) {
            breakDown(e); // what runs is released first
        }
        finishRunning();
        sayWords();
        if (broken != null) {
            throw broken;
        }
        return new Summary(done, retried, failed, countLeft(), refused.size());
    }

    private void hear(String word) {
        words.add(word);
        wake();
    }

    private void sayWords() {
        for (String word = words.poll(); word != null; word = words.poll()) {
            report.say(word);
        }
    }

    /** @return false when there is nothing to do and nothing worth waiting for */
    private boolean turn() {
        patiently(() -> {
            sweep();
            fill();
        });
        if (busy() > 0) {
            idleSince = System.nanoTime();
            untidy = true;
            patiently(() -> report.load(() -> queue.overview().dueCount(settings.only) + busy()));
            return true;
        }
        if (untidy) {
            untidy = false;
            patiently(queue::tidy);
        }
        Optional<Boolean> worth = patiently(() -> Optional.of(worthWaiting(Duration.ofNanos(System.nanoTime() - idleSince))));
        return settings.watch || worth != null && worth.get();
    }

    /** Some of the jobs that are left pending, the first ones due first. */
    public List<JobRecord> left() {
        return queue.overview().pending(settings.only, 6);
    }

    private long countLeft() {
        return settings.only.isEmpty() ? queue.count(new SlothQueue.Filter(State.PENDING, null, null, null))
            : settings.only.stream().mapToLong(j -> queue.count(new SlothQueue.Filter(State.PENDING, j, null, null))).sum();
    }

    private void discover() {
        Discovery discovery = new Discovery(queue);
        if (settings.only.isEmpty()) {
            found(discovery.discover(true));
        } else {
            found(discovery.require(settings.only.stream().map(name -> JobFile.named(queue.folder(), name)).toList()));
        }
    }

    private void found(Discovery.Found found) {
        for (String problem : found.refused()) {
            if (refused.add(problem)) {
                report.refused(problem);
            }
        }
    }

    /** Ends what dead and hung workers left running: nothing of theirs goes out again before. */
    void sweep() {
        queue.reclaim(id, this::isRunning).forEach(this::tellTaken);
        for (Roster.ProcessRecord p : queue.strays()) {
            if (isOurs(p)) {
                if (p.endAll()) {
                    queue.gone(p);
                } else {
                    report.say("a process of job " + p.job() + " cannot be ended (pid " + p.pid() + "); the job waits for it");
                }
            }
        }
        for (Roster.WorkerRecord w : queue.workers()) {
            if (w.job() == null && queue.isDead(w)) {
                queue.leave(w.id());
                locks.forget(w.id());
            }
        }
    }

    private void tellTaken(JobRecord job) {
        synchronized (change) {
            failed += job.state() == State.FAILED ? 1 : 0;
        }
        report.takenBack(job);
    }

    /** A live worker ends its own cancelled job; a hung one does not. */
    private boolean isOurs(Roster.ProcessRecord p) {
        if (p.worker().equals(id)) {
            return !isRunning(p.job());
        }
        boolean cancelled = queue.job(p.job()).map(j -> j.state() == State.CANCELLED).orElse(true);
        return !cancelled || queue.isDead(p.worker());
    }

    private boolean isRunning(long job) {
        return running.stream().anyMatch(r -> r.lease.id() == job);
    }

    /** Hands jobs to the slots that are free, in the order of the claims. */
    private void fill() {
        while (!stopping && busy() < settings.parallel) {
            Optional<Lease> lease = claim();
            if (lease.isEmpty()) {
                return;
            }
            occupy(1);
            slots.execute(() -> chain(lease.get()));
        }
    }

    private Optional<Lease> claim() {
        return queue.claimToRun(id, settings.only);
    }

    /** A slot runs one job after another: the end of one and the claim of the next are one transaction. */
    private void chain(Lease first) {
        try {
            for (Optional<Running> next = Optional.of(begin(first)); next.isPresent(); ) {
                next = work(next.get());
            }
        } catch (RuntimeException | Error e) {
            breakDown(e instanceof RuntimeException r ? r : new IllegalStateException(e));
        } finally {
            occupy(-1);
        }
    }

    /** From here on the pulse renews its lease. */
    private Running begin(Lease lease) {
        Running r = new Running(lease, awake.nanos());
        running.add(r);
        if (stopping) {
            r.ask(Running.Ask.RELEASE);
        }
        return r;
    }

    private Optional<Running> work(Running r) {
        long startNanos = System.nanoTime();
        report.started(r.lease);
        try {
            Outcome outcome = attempt(r);
            return record(r, outcome, Duration.ofNanos(System.nanoTime() - startNanos));
        } finally {
            running.remove(r);
        }
    }

    /** @return how it ended, or null when this attempt no longer counts; nothing of it is alive any more */
    private Outcome attempt(Running r) {
        Options options = r.lease.job().options();
        try {
            JobFile file = r.lease.job().job() == null ? null : launcher.file(r.lease.job());
            if (file != null) {
                String digest = file.digest();
                patiently(() -> queue.runs(r.lease, digest));
            }
            r.building();
            Execution execution = launcher.start(r.lease, file, queue.mark(r.lease), services(r.lease));
            r.started();
            if (!r.asked.isDone() && mayBegin(r.lease, execution)) {
                r.begin(execution, awake.nanos());
                execution.begin();
            } else {
                r.ask(Running.Ask.LOST);
            }
            CompletableFuture.anyOf(execution.result(), r.asked).join();
            boolean byItself = execution.result().isDone();
            while (!execution.end()) {
                report.say("a process of job " + r.lease.id() + " cannot be ended; the job waits for it");
            }
            return byItself ? execution.result().join() : stopped(r.asked.join(), options);
        } catch (Launcher.CannotStart | IOException | InterruptedException e) {
            // The interrupt of a build can meet anything on the way there.
            return r.asked.isDone() || e instanceof InterruptedException ? stopped(r.asked.join(), options)
                : e instanceof Launcher.CannotStart c ? c.outcome : Launcher.notStarted(e);
        } finally {
            r.started();
        }
    }

    /**
     * The lease is asked for once more, in the transaction that notes the processes and before they begin. A worker that was
     * frozen since the claim finds its job given away; of one that is frozen after this, its processes are found and ended.
     */
    private boolean mayBegin(Lease lease, Execution execution) {
        Optional<Boolean> may = patiently(() -> Optional.of(pulseQueue.mayBegin(lease, execution.tree())));
        return may != null && may.get();
    }

    private static Outcome stopped(Running.Ask why, Options options) {
        return switch (why) {
            case RELEASE -> new Outcome.Released();
            case TIMEOUT -> new Outcome.Failed("timeout: not done after " + Durations.format(options.timeout()),
                Map.of("reason", "timeout"));
            case STALL -> new Outcome.Failed("stalled: no output or progress for " + Durations.format(options.stall()),
                Map.of("reason", "stall"));
            case LOST, CANCELLED -> null;
        };
    }

    private Optional<Running> record(Running r, Outcome outcome, Duration took) {
        JobRecord.Progress progress = r.execution() == null ? null : r.execution().output().progress();
        boolean[] counted = {false};
        Optional<Lease> next = patiently(() -> queue.together(() -> {
            if (progress != null) {
                queue.progress(r.lease, progress);
            }
            if (outcome == null) {
                queue.lost(r.lease);
            } else {
                counted[0] = outcome.writeTo(queue, r.lease);
            }
            return stopping ? Optional.<Lease>empty() : claim();
        }));
        if (next == null) {
            return Optional.empty();
        }
        Optional<Running> begun = next.map(this::begin);
        tell(r, counted[0] ? outcome : null, took);
        return begun;
    }

    private void tell(Running r, Outcome outcome, Duration took) {
        Optional<JobRecord> now = patiently(() -> queue.job(r.lease.id()));
        JobRecord job = now == null ? r.lease.job() : now.orElse(r.lease.job());
        synchronized (change) {
            done += outcome instanceof Outcome.Done ? 1 : 0;
            failed += outcome != null && job.state() == State.FAILED ? 1 : 0;
            retried += outcome instanceof Outcome.Failed && job.state() == State.PENDING ? 1 : 0;
        }
        if (r.execution() != null && r.execution().output().trouble() != null) {
            report.say("the log of job " + job.id() + " is not whole: " + r.execution().output().trouble().getMessage());
        }
        if (outcome instanceof Outcome.Done) {
            QueueFolder.deleteTree(queue.folder().state(r.lease.id()));
        }
        report.ended(job, outcome, took);
    }

    private Hosts.Services services(Lease lease) {
        return new Hosts.Services() {
            @Override public Optional<String> step(String name) {
                return Optional.ofNullable(queue.steps(lease.id()).get(name));
            }

            @Override public boolean keepStep(String name, String json) {
                return queue.keepStep(lease, name, json);
            }

            @Override public long add(String job, List<String> args) {
                return queue.add(job, args.toArray(String[]::new)).id();
            }
        };
    }

    private boolean worthWaiting(Duration idleFor) {
        if (queue.overview().dueOrOverdue(settings.only, id) > 0) {
            return idleFor.compareTo(settings.patience) < 0;
        }
        Optional<Long> next = queue.overview().nextDue(settings.only);
        boolean soon = next.isPresent() && next.get() - queue.now() <= settings.patience.toMillis();
        if (next.isPresent() && (soon || settings.watch)) {
            report.waiting(next.get());
        }
        return soon;
    }

    private void patiently(Runnable work) {
        patiently(() -> {
            work.run();
            return Optional.empty();
        });
    }

    /**
     * Does it again and again while the trouble is one that may pass, and says so once.
     *
     * @return null when asked to stop meanwhile: then nothing is known
     */
    private <T> Optional<T> patiently(Supplier<Optional<T>> work) {
        boolean said = false;
        long stopAt = 0;
        while (true) {
            try {
                return work.get();
            } catch (SlothException e) {
                if (!e.isPassing()) {
                    throw e;
                }
                if (!said) {
                    report.say(e.getMessage() + " (waiting)");
                    said = true;
                }
                stopAt = stopping && stopAt == 0 ? System.nanoTime() + STOP_PATIENCE.toNanos() : stopAt;
                if (stopping && System.nanoTime() > stopAt) {
                    // It stays claimed; with our lock gone, the next worker takes it up.
                    return null;
                }
                await(TROUBLE_PAUSE);
            }
        }
    }

    /** Asks it to release its jobs and come back from {@link #run}. Any thread. */
    public void stop() {
        stopping = true;
        running.forEach(r -> r.ask(Running.Ask.RELEASE));
        wake();
    }

    private void breakDown(RuntimeException why) {
        if (broken == null) {
            broken = why;
        }
        stop();
    }

    private void finishRunning() {
        while (busy() > 0) {
            await(POLL);
            sayWords();
        }
    }

    private int busy() {
        synchronized (change) {
            return busy;
        }
    }

    private void occupy(int by) {
        synchronized (change) {
            busy += by;
            change.notifyAll();
        }
    }

    private void wake() {
        synchronized (change) {
            change.notifyAll();
        }
    }

    private void await(Duration most) {
        synchronized (change) {
            try {
                change.wait(most.toMillis());
            } catch (InterruptedException e) {
                stopping = true;
            }
        }
    }

    @Override public void close() {
        slots.shutdown();
        try {
            slots.awaitTermination(1, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        pulse.close();
        hosts.close();
        try {
            queue.leave(id);
        } catch (SlothException e) {
            // The next worker finds the lock free and clears the rest away.
        }
        queue.close();
        pulseQueue.close();
        lock.close();
    }
}
