package sloth;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static java.time.Duration.ofMillis;
import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * Drives the queue and its {@link Twin} with the same random moves, and compares them after each. A failure prints the
 * seed and the way that led there; {@code SLOTHQ_SEED=77 ./jbang tests/tests.java Model} goes it again.
 */
@DisplayName("A random walk")
class ModelTest {

    private static final int STEPS = 400;
    private static final int SEEDS = 8;
    private static final int TRACE_SHOWN = 80;
    /** So many of the newest leases are asked whether they hold. */
    private static final int LEASES_ASKED = 12;
    private static final List<String> BARE = List.of("bare-1", "bare-2");

    /** One row, as far as both know it. */
    private record View(long id, State state, int attempts, int claims, String worker, Long until, Long notBefore, String message,
                        Long finished) {
    }

    @TempDir(factory = QueueFixture.InMemory.class) Path root;
    private final TestClock clock = new TestClock();
    private final Twin twin = new Twin(clock);
    private final Map<Lease, Twin.Grant> grants = new HashMap<>();
    private final List<Lease> leases = new ArrayList<>();
    private final Map<String, WorkerLocks.Held> locks = new HashMap<>();
    private final List<String> trace = new ArrayList<>();
    private QueueFolder folder;
    private SlothQueue queue;
    private Random random;
    private int workers;

    static LongStream seeds() {
        String one = System.getenv("SLOTHQ_SEED");
        return one == null ? LongStream.rangeClosed(1, SEEDS) : LongStream.of(Long.parseLong(one));
    }

    @ParameterizedTest(name = "from seed {0} leaves the queue and its twin alike after each step") @MethodSource("seeds")
    void leaves_the_queue_and_its_twin_alike_after_each_step(long seed) {
        random = new Random(seed);
        folder = new QueueFolder(root);
        queue = SlothQueue.open(folder, clock);
        try {
            for (int n = 1; n <= STEPS; n++) {
                step();
                compare();
                if (n % 20 == 0) {
                    compareAll();
                }
            }
        } catch (RuntimeException | AssertionError e) {
            List<String> end = trace.subList(Math.max(0, trace.size() - TRACE_SHOWN), trace.size());
            String way = String.join("\n  ", end);
            throw new AssertionError("seed " + seed + ", step " + trace.size() + "\n  " + way + "\n" + e.getMessage(), e);
        } finally {
            queue.close();
            locks.values().forEach(WorkerLocks.Held::close);
        }
    }

    private void step() {
        int dice = random.nextInt(100);
        if (dice < 18) {
            add();
        } else if (dice < 40) {
            claim();
        } else if (dice < 66) {
            speak();
        } else if (dice < 72) {
            byHand();
        } else if (dice < 88) {
            time();
        } else {
            house();
        }
    }

    private void add() {
        if (random.nextInt(8) == 0) {
            List<NewJob> jobs = List.of(newJob(), newJob(), newJob());
            note("add a batch");
            long batch = queue.addAll("batch", jobs.iterator()).batch();
            twin.addAll(jobs, queue.list(new SlothQueue.Filter(null, null, batch, null)).stream().map(JobRecord::id).iterator());
        } else {
            NewJob job = newJob();
            long id = queue.add(job).id();
            note("add " + id + " " + job.options().written() + (job.key() == null ? "" : " key=" + job.key())
                + (job.delay() == null ? "" : " in=" + job.delay()) + (job.notBefore() == 0 ? "" : " at=" + job.notBefore()));
            same(id, twin.add(job, List.of(id).iterator()).id, "id");
        }
    }

    private NewJob newJob() {
        Options options = Options.DEFAULT.with("attempts", "" + (1 + random.nextInt(3))).with("priority", "" + (random.nextInt(3) - 1))
            .with("lease", pick("5s", "60s")).with("backoff", pick("2s..1h", "500ms..1s", "30s..40s"));
        NewJob job = NewJob.file("job.sh").options(options).key(pick(null, null, null, "red", "blue"));
        return switch (random.nextInt(5)) {
            case 0 -> job.in(ofMillis(random.nextInt(120_000)));
            case 1 -> job.at(clock.millis() + random.nextInt(240_000) - 60_000);
            default -> job;
        };
    }

    private void claim() {
        String worker = anyWorker();
        boolean toRun = locks.containsKey(worker);
        Optional<Lease> lease = toRun ? queue.claimToRun(worker, List.of()) : queue.claim(worker);
        note(worker + " claims " + lease.map(l -> l.id() + " (claim " + l.claim() + ")").orElse("nothing"));
        Optional<Twin.Grant> grant = toRun ? twin.claimToRun(worker) : twin.claim(worker);
        same(lease.map(Lease::id), grant.map(g -> g.row().id), "job");
        same(lease.map(Lease::attempt), grant.map(Twin.Grant::attempt), "attempt");
        lease.ifPresent(l -> {
            leases.add(l);
            grants.put(l, grant.orElseThrow());
        });
    }

    /** A word about any lease that there ever was, most often a new one. */
    private void speak() {
        if (leases.isEmpty()) {
            return;
        }
        Lease lease = leases.get(Math.max(0, leases.size() - 1 - (int) Math.abs(random.nextGaussian() * 5)));
        Twin.Grant grant = grants.get(lease);
        String text = pick("well", "boom", null);
        String word = pick("heartbeat", "heartbeat", "complete", "fail", "fail", "release", "not now", "give up", "step", "lost");
        note(word + " of claim " + lease.claim() + " of job " + lease.id());
        boolean counted = switch (word) {
            case "heartbeat" -> same(queue.heartbeat(lease), twin.heartbeat(grant), "heartbeat");
            case "complete" -> same(queue.complete(lease, text), twin.complete(grant, text), "complete");
            case "fail" -> same(queue.fail(lease, text), twin.fail(grant, text), "fail");
            case "release" -> same(queue.release(lease), twin.release(grant), "release");
            case "not now" -> same(queue.notNow(lease, text), twin.notNow(grant, text), "not now");
            case "give up" -> same(queue.giveUp(lease, text, Map.of()), twin.giveUp(grant, text), "give up");
            case "step" -> same(queue.keepStep(lease, "s" + text, "1"), twin.keepStep(grant, "s" + text, "1"), "step");
            default -> {
                if (!queue.isHeld(lease)) {
                    queue.lost(lease);
                    twin.lost(grant);
                }
                yield true;
            }
        };
        trace.set(trace.size() - 1, trace.get(trace.size() - 1) + (counted ? "" : " (refused)"));
    }

    private void byHand() {
        if (twin.rows.isEmpty()) {
            return;
        }
        Twin.Row row = twin.rows.get(random.nextInt(twin.rows.size()));
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                note("cancel " + row.id);
                same(allowed(() -> queue.cancel(row.id)), twin.cancel(row), "cancel");
            }
            case 2, 3 -> {
                note("retry " + row.id);
                same(allowed(() -> queue.retry(row.id)), twin.retry(row), "retry");
            }
            default -> {
                Duration older = Duration.ofSeconds(random.nextInt(300));
                note("prune what is older than " + older.toSeconds() + " s");
                same(queue.prune(older).stream().sorted().toList(), twin.prune(older), "pruned");
            }
        }
    }

    private static boolean allowed(Runnable move) {
        try {
            move.run();
            return true;
        } catch (SlothException e) {
            assertEquals(SlothException.REFUSED, e.exitCode(), e.getMessage());
            return false;
        }
    }

    private void time() {
        long ms = pick(1L, 400L, 2_000L, 5_000L, 20_000L, 60_000L, 300_000L) + random.nextInt(3) - 1;
        switch (random.nextInt(10)) {
            case 0 -> {
                note("sleep " + ms * 10 + " ms");
                clock.sleep(ofMillis(ms * 10));
            }
            case 1 -> {
                note("the clock goes forward " + ms * 20 + " ms");
                clock.step(ofMillis(ms * 20));
            }
            case 2 -> {
                note("the clock goes back " + ms * 20 + " ms");
                clock.step(ofMillis(-ms * 20));
            }
            default -> {
                note(ms + " ms pass");
                clock.pass(ofMillis(ms));
            }
        }
    }

    /** What workers do beside their jobs: come, die, go, put the house in order. */
    private void house() {
        int dice = random.nextInt(10);
        if (dice < 2 || locks.isEmpty()) {
            String worker = "worker-" + ++workers;
            note(worker + " comes");
            locks.put(worker, new WorkerLocks(folder.locks()).take(worker));
            queue.enter(worker, 1);
            twin.enter(worker);
        } else if (dice < 4) {
            String worker = aliveWorker();
            note(worker + " dies");
            locks.remove(worker).close();
            twin.die(worker);
        } else if (dice < 5) {
            String worker = "worker-" + (1 + random.nextInt(workers));
            if (!locks.containsKey(worker)) {
                note("what is left of " + worker + " is cleared away");
                queue.leave(worker);
                twin.leave(worker);
            }
        } else if (dice < 7) {
            String worker = anyWorker();
            note(worker + " takes back what was lost");
            queue.reclaim(worker, job -> true);
            twin.reclaim(worker);
        } else if (dice < 9) {
            note("processes of claims that are over are found gone");
            queue.strays().forEach(queue::gone);
            twin.sweep();
        } else {
            note("the queue is opened again");
            queue.close();
            queue = SlothQueue.open(folder, clock);
            twin.reopen();
        }
    }

    private String aliveWorker() {
        return pick(locks.keySet().stream().sorted().toArray(String[]::new));
    }

    private String anyWorker() {
        return locks.isEmpty() || random.nextBoolean() ? pick(BARE.toArray(String[]::new)) : aliveWorker();
    }

    // ---- comparing

    private void compare() {
        List<JobRecord> rows = queue.list();
        for (int n = 0; n < Math.min(rows.size(), twin.rows.size()); n++) {
            assertEquals(view(twin.rows.get(n)), view(rows.get(n)));
        }
        same(rows.size(), twin.rows.size(), "number of jobs");
        for (Lease lease : leases.subList(Math.max(0, leases.size() - LEASES_ASKED), leases.size())) {
            same(queue.isHeld(lease), twin.isHeld(grants.get(lease)), "claim " + lease.claim() + " of job " + lease.id() + " holds");
        }
    }

    /** The ledger alone tells state, attempts and outcome; and what else belongs to a job is there. */
    private void compareAll() {
        Map<Long, Ledger.Standing> told = Ledger.replay(queue.ledger());
        for (JobRecord job : queue.list()) {
            Ledger.Standing row = new Ledger.Standing(job.state(), job.attempts(), job.message());
            assertEquals(row, told.remove(job.id()), "job " + job.id() + " by the ledger");
        }
        assertEquals(Map.of(), told, "jobs that only the ledger knows");
        for (Twin.Row row : twin.rows) {
            same(queue.processesOf(row.id).size(), row.processes.size(), "processes of job " + row.id);
            same(queue.steps(row.id), row.steps, "steps of job " + row.id);
        }
    }

    private static View view(JobRecord job) {
        String message = job.message() == null ? null : job.message().replaceFirst("no heartbeat for \\S+", "no heartbeat");
        return new View(job.id(), job.state(), job.attempts(), job.claims(), job.worker(), job.leaseUntil(), job.notBefore(), message,
            job.finished());
    }

    private static View view(Twin.Row row) {
        boolean claimed = row.state == State.CLAIMED;
        return new View(row.id, row.state, row.attempts, row.claims, claimed ? row.grant.worker() : null, claimed ? row.leaseUntil : null,
            row.state == State.PENDING && !row.due ? row.notBefore : null, row.message, row.finished);
    }

    private static <T> T same(T queue, T twin, String what) {
        assertEquals(twin, queue, what);
        return queue;
    }

    private void note(String line) {
        trace.add(line);
    }

    @SafeVarargs private <T> T pick(T... of) {
        return of[random.nextInt(of.length)];
    }
}
