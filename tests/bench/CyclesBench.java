package sloth;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Claim and complete, at every depth of the queue: as two moves, and with the end of one job and the claim of the next
 * in one transaction, as the worker has it. Beside them two bare transactions a job. The turns are short and many: a disk
 * that others use has its good and bad seconds, and a ratio is of turns that are close together.
 */
final class CyclesBench implements Bench {

    private static final String WORKER = "bench";

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int cycles = 50;
        int many = quick ? 20_000 : 1_000_000;
        Map<String, SlothQueue> queues = new LinkedHashMap<>();
        queues.put("1000 pending", filled(folder.resolve("few"), 1_000, 0));
        queues.put(many / 10 + " pending", filled(folder.resolve("more"), many / 10, 0));
        queues.put(many + " pending", filled(folder.resolve("many"), many, 0));
        queues.put("1000 pending, " + many + " wait", filled(folder.resolve("waiting"), 1_000, many));
        try (BareTransactions bare = new BareTransactions(folder.resolve("bare.db"))) {
            warmUp(queues.values().iterator().next(), 100 * cycles);
            Contest contest = new Contest().seconds("bare", () -> bare.commit(2 * cycles));
            queues.forEach((depth, queue) -> contest
                .seconds("two, " + depth, () -> add(queue, cycles), () -> twoMoves(queue, cycles))
                .seconds("one, " + depth, () -> add(queue, cycles), () -> oneMove(queue, cycles)));
            report(contest.rounds(quick ? 9 : 101), cycles, queues, figures);
        } finally {
            queues.values().forEach(SlothQueue::close);
        }
    }

    private static void report(Map<String, Series> seconds, int cycles, Map<String, SlothQueue> queues, Figures figures) {
        Map<String, Series> rates = new LinkedHashMap<>();
        seconds.forEach((name, s) -> rates.put(name, s.map(t -> cycles / t)));
        Series bare = rates.get("bare");
        figures.row("two bare transactions a job", bare, "jobs/s");
        for (String depth : queues.keySet()) {
            Series two = rates.get("two, " + depth);
            figures.atLeast(0.8, "claim, complete: " + depth, two, "jobs/s", two.over(bare));
        }
        for (String depth : queues.keySet()) {
            Series one = rates.get("one, " + depth);
            figures.atLeast(1.4, "complete + claim in one: " + depth, one, "jobs/s", one.over(bare));
        }
        Series shallow = rates.get("two, " + queues.keySet().iterator().next());
        queues.keySet().stream().skip(1).forEach(depth -> {
            Series deep = rates.get("two, " + depth);
            figures.atLeast(0.9, "flat: " + depth + " beside 1000", deep, "jobs/s", deep.over(shallow));
        });
    }

    private static SlothQueue filled(Path folder, int pending, int waiting) throws IOException {
        SlothQueue queue = SlothQueue.open(folder);
        add(queue, pending);
        add(queue, NewJob.command("true").priority(10).at(System.currentTimeMillis() + Duration.ofDays(1000).toMillis()), waiting);
        return queue;
    }

    static void add(SlothQueue queue, int jobs) throws IOException {
        add(queue, NewJob.command("true"), jobs);
    }

    private static void add(SlothQueue queue, NewJob job, int times) throws IOException {
        queue.addEach(job, new ByteArrayInputStream("x\n".repeat(times).getBytes(StandardCharsets.US_ASCII)));
    }

    /** A JVM needs some thousand cycles to compile them, and only a few for what is bare. */
    private static void warmUp(SlothQueue queue, int cycles) throws IOException {
        add(queue, 2 * cycles);
        twoMoves(queue, cycles);
        oneMove(queue, cycles);
    }

    private static void twoMoves(SlothQueue queue, int cycles) {
        for (int i = 0; i < cycles; i++) {
            Lease lease = queue.claim(WORKER).orElseThrow();
            queue.complete(lease, "done");
        }
    }

    static void oneMove(SlothQueue queue, int cycles) {
        Optional<Lease> lease = queue.claim(WORKER);
        for (int i = 0; i < cycles; i++) {
            Lease held = lease.orElseThrow();
            boolean last = i == cycles - 1;
            lease = queue.together(() -> {
                queue.complete(held, "done");
                return last ? Optional.empty() : queue.claim(WORKER);
            });
        }
    }
}
