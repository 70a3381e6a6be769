package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Many processes on one folder, and everything that befalls them at once. Longer: {@code SLOTHQ_SOAK_ROUNDS=500}; the
 * same course again: {@code SLOTHQ_SOAK_SEED}.
 */
@DisplayName("Many processes")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(value = OS.LINUX, disabledReason = "the witnesses look into /proc")
class SoakTest {

    private static final int ROUNDS = Integer.parseInt(System.getenv().getOrDefault("SLOTHQ_SOAK_ROUNDS", "8"));
    /** Then it tells what it does meanwhile. */
    private static final boolean IS_LONG = ROUNDS >= 100;
    private static final int WORKERS = 2;
    private static final String OPTIONS = "lease=1s attempts=6 backoff=1s..2s";

    @RegisterExtension final Cli cli = new Cli();
    private final long seed = Long.parseLong(System.getenv().getOrDefault("SLOTHQ_SOAK_SEED", Long.toString(System.nanoTime() & 0xffff)));
    private final Random random = new Random(seed);
    private final long start = System.nanoTime();
    private final List<Cli.Live> workers = new ArrayList<>();
    private final Set<Cli.Live> stopped = new java.util.HashSet<>();
    private final List<Cli.Live> adders = new ArrayList<>();
    private final List<String> course = new ArrayList<>();
    private Witness witness;
    private Rig rig;

    @Test void that_add_under_one_key_at_once_all_get_the_one_job() {
        // The folder is empty: they also make the queue at once.
        List<Cli.Live> twenty = IntStream.range(0, 20).mapToObj(i -> cli.start("add", "--key", "same", "--", "true")).toList();
        List<String> ids = twenty.stream().map(a -> a.ends().exits(0).out()).distinct().toList();
        assertEquals(List.of("1\n"), ids);
        assertEquals(1, cli.jobs().size());
        assertEquals("added", cli.events(1));
    }

    @Test void that_work_add_kill_and_sleep_lose_no_job_and_double_none() throws Exception {
        witness = Witness.in(cli.folder()).job("quick.sh", OPTIONS).stray("stray.sh", OPTIONS).hosted(OPTIONS);
        rig = Rig.whyNot() == null ? Rig.of(cli) : null;
        try {
            for (int round = 0; round < ROUNDS; round++) {
                man();
                witness.untilMore(random.nextInt(400));
                befall();
            }
            settle();
            audit();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("seed " + seed + ", " + course + ", kept in " + keep(), e);
        } finally {
            adders.forEach(a -> a.process().destroyForcibly());
            if (rig != null) {
                rig.close();
            }
        }
    }

    // ---- who is there

    private void man() {
        workers.removeIf(w -> !w.process().isAlive());
        while (workers.size() < WORKERS) {
            String[] run = {"run", "--watch", "--parallel", Integer.toString(1 + random.nextInt(3))};
            workers.add(rig == null ? cli.start(run) : rig.start(run));
        }
        if (adders.isEmpty() || !adders.get(adders.size() - 1).process().isAlive()) {
            List<String> java = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1",
                "-cp", System.getProperty("java.class.path"), Adder.class.getName(), cli.folder().toString(),
                Long.toString(random.nextLong()));
            adders.add(rig == null ? new Cli.Live(java, cli.folder(), Map.of()) : rig.start(java));
        }
    }

    /** Adds jobs, and prints the id of each when it has been given it; as long as somebody holds its stdin. */
    static final class Adder {

        private static final int ENOUGH = 12;

        public static void main(String[] args) throws Exception {
            Thread end = new Thread(() -> {
                try {
                    System.in.read();
                } catch (IOException e) {
                    // Then nobody holds it.
                }
                Runtime.getRuntime().halt(0);
            });
            end.setDaemon(true);
            end.start();
            Random random = new Random(Long.parseLong(args[1]));
            try (SlothQueue queue = SlothQueue.open(Path.of(args[0]))) {
                while (true) {
                    if (queue.overview().due() < ENOUGH) {
                        System.out.println(add(queue, random).id());
                    }
                    Thread.sleep(random.nextInt(200));
                }
            }
        }

        private static JobRecord add(SlothQueue queue, Random random) {
            String job = List.of("quick.sh", "quick.sh", "quick.sh", "stray.sh", "hosted.java").get(random.nextInt(5));
            String exit = random.nextInt(8) == 0 ? "1" : "0";
            return queue.add(job, exit, Integer.toString(random.nextInt(12)));
        }
    }

    // ---- what happens

    private void befall() throws InterruptedException {
        int what = random.nextInt(rig == null ? 7 : 10);
        Cli.Live worker = workers.get(random.nextInt(workers.size()));
        switch (what) {
            case 0, 1 -> {
                note("kill worker");
                worker.killed();
            }
            case 2 -> freezeOrThaw(worker);
            case 3 -> {
                note("stop worker");
                thaw(worker);
                worker.signal("TERM").ends();
            }
            case 4 -> {
                note("kill adder");
                adders.get(adders.size() - 1).killed();
            }
            case 5 -> killAJob();
            case 6 -> cancelOne();
            case 7 -> {
                Duration night = Duration.ofSeconds(4 + random.nextInt(40_000));
                note("sleep " + night);
                rig.sleep(night);
            }
            case 8 -> {
                Duration by = Duration.ofSeconds((long) (random.nextGaussian() * Math.pow(10, random.nextInt(7))));
                note("step " + by);
                rig.step(by);
            }
            default -> {
                Duration pause = Duration.ofMillis(random.nextInt(4_000));
                note("pause " + pause);
                rig.pause(pause);
            }
        }
    }

    private void note(String what) {
        course.add(Duration.ofNanos(System.nanoTime() - start).toSeconds() + "s " + what);
        if (IS_LONG) {
            System.err.println(course.get(course.size() - 1));
        }
    }

    private void freezeOrThaw(Cli.Live worker) {
        if (stopped.contains(worker)) {
            note("thaw");
            thaw(worker);
        } else {
            note("freeze");
            worker.signal("STOP");
            stopped.add(worker);
            Cli.pause(Duration.ofMillis(random.nextInt(4_000)));
        }
    }

    private void thaw(Cli.Live worker) {
        if (stopped.remove(worker) && worker.process().isAlive()) {
            worker.signal("CONT");
        }
    }

    private void killAJob() {
        List<Long> alive = witness.living();
        if (!alive.isEmpty()) {
            note("kill job");
            Rig.run("sh", "-c", "kill -s KILL " + alive.get(random.nextInt(alive.size())));
        }
    }

    private void cancelOne() throws InterruptedException {
        List<JobRecord> open = cli.has(".slothq/queue.db") ? cli.jobs().stream().filter(j -> !j.state().ended()).toList() : List.of();
        if (!open.isEmpty()) {
            try (SlothQueue queue = SlothQueue.open(new QueueFolder(cli.folder()), rig == null ? Clock.system() : rig.clock())) {
                long id = open.get(random.nextInt(open.size())).id();
                queue.cancel(id);
                Cancelling.awaitGone(queue, id);
                note("cancel");
            } catch (SlothException e) {
                // It has ended meanwhile; or a worker was frozen in the middle of a transaction, with the write lock in its hand.
                note("no cancel: " + e.getMessage());
                assertTrue(e.exitCode() == SlothException.REFUSED || e.isPassing() && !stopped.isEmpty(), e.getMessage());
            }
        }
    }

    /** Nobody kills any more: what is left is done. */
    private void settle() {
        note("settle");
        List.copyOf(stopped).forEach(this::thaw);
        Cli.Live adder = adders.get(adders.size() - 1);
        if (adder.process().isAlive()) {
            adder.killed();
        }
        workers.stream().filter(w -> w.process().isAlive()).forEach(w -> w.signal("TERM"));
        workers.forEach(Cli.Live::ends);
        Cli.Said last = (rig == null ? cli.start("run") : rig.start("run")).ends();
        assertTrue(last.code() == 0 || last.code() == 1, last::toString);
    }

    // ---- what must be true

    private void audit() throws IOException {
        note("audit");
        witness.assertNeverTwoAlive();
        witness.assertNobodyLeft();
        try (SlothQueue queue = SlothQueue.look(new QueueFolder(cli.folder()))) {
            assertEquals(List.of("ok"), queue.overview().integrity());
            assertEquals(List.of(), queue.overview().contradictions());
            Map<Long, JobRecord> jobs = queue.list().stream().collect(Collectors.toMap(JobRecord::id, j -> j));
            Set<Long> lost = acknowledged();
            assertTrue(lost.size() >= ROUNDS / 2, "hardly anything was added: " + lost);
            lost.removeAll(jobs.keySet());
            assertEquals(Set.of(), lost, "acknowledged and lost");
            Map<Long, List<String>> events = new HashMap<>();
            queue.ledger().stream().filter(e -> e.job() != null)
                .forEach(e -> events.computeIfAbsent(e.job(), id -> new ArrayList<>()).add(e.event()));
            jobs.values().forEach(j -> assertEndedOnce(j, events.get(j.id())));
            assertEquals(List.of(), queue.strays(), "processes that are not known to be gone");
            assertEquals(List.of(), queue.workers(), "workers that are not known to be gone");
        }
        // One that was killed before it had entered its name leaves an empty file; nobody holds it.
        WorkerLocks locks = new WorkerLocks(new QueueFolder(cli.folder()).locks());
        try (Stream<Path> files = Files.list(new QueueFolder(cli.folder()).locks())) {
            assertTrue(files.map(f -> f.getFileName().toString().replace(".lock", "")).allMatch(locks::isFree), "a lock of nobody is held");
        }
    }

    private Set<Long> acknowledged() {
        Set<Long> ids = new TreeSet<>();
        for (Cli.Live adder : adders) {
            String out = adder.out();
            // A kill may cut the last line.
            out.substring(0, out.lastIndexOf('\n') + 1).lines().map(Long::valueOf).forEach(ids::add);
        }
        return ids;
    }

    private void assertEndedOnce(JobRecord job, List<String> events) {
        String story = "job " + job.id() + ": " + events;
        assertTrue(job.state().ended(), story);
        List<String> ends = events.stream().filter(e -> List.of("done", "failed", "cancelled").contains(e)).toList();
        assertEquals(List.of(job.state().word()), ends, story);
        assertTrue(job.attempts() <= job.options().attempts(), story);
        if (job.state() == State.DONE) {
            // A guest does not know the number of its claim.
            int last = job.job().equals("hosted.java") ? job.attempts() : job.claims();
            assertTrue(witness.lines().stream().anyMatch(l -> l.word().equals("end") && l.id() == job.id() && l.claim() == last),
                story + ", but its last attempt did not come to its end");
        }
    }

    private Path keep() throws IOException {
        Path kept = Files.createTempDirectory("slothq-soak");
        Rig.run("cp", "-a", cli.folder().toString(), kept.toString());
        return kept;
    }
}
