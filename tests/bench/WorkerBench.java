package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A real worker and jobs that do nothing: what a job costs beyond the one bare transaction that its end and the next
 * claim are. Beside it, where they are installed, nq and tsp, which write nothing down.
 */
final class WorkerBench implements Bench {

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int jobs = quick ? 100 : 1_000;
        int processes = quick ? 10 : 50;
        JobFiles.write(folder);
        try (BareTransactions bare = new BareTransactions(folder.resolve("bare.db"))) {
            Contest contest = new Contest()
                .measured("bare", () -> millisATransaction(bare, jobs))
                .measured("hosted", () -> millisAJob(folder, NewJob.file(JobFiles.HOSTED), jobs))
                .measured("main", () -> millisAJob(folder, NewJob.file(JobFiles.MAIN), processes))
                .measured("command", () -> millisAJob(folder, NewJob.command("true"), processes));
            List<Rival> rivals = Stream.of(Rival.NQ, Rival.TSP).filter(Rival::isHere).toList();
            rivals.forEach(r -> contest.measured(r.name(), () -> r.millisAJob(folder, processes)));
            Map<String, Series> millis = contest.rounds(quick ? 2 : 5);
            Series beyond = millis.get("hosted").beyond(millis.get("bare"));
            figures.row("bare transaction", millis.get("bare"), "ms");
            figures.row("hosted, " + jobs + " no-ops", millis.get("hosted"), "ms/job");
            figures.judged("hosted, beyond the bare transaction", Figures.figure(beyond, "ms/job"), "", "<= 5 ms", beyond.median() <= 5);
            figures.row("main, " + processes + " no-ops", millis.get("main"), "ms/job");
            figures.row("command, " + processes + " times true", millis.get("command"), "ms/job");
            rivals.forEach(r -> figures.row(r.program() + ", " + processes + " times true, with the adding",
                millis.get(r.name()), "ms/job"));
            Stream.of(Rival.values()).filter(r -> !r.isHere()).forEach(r -> figures.note(r.program() + " is not installed: left out"));
        }
    }

    private static double millisATransaction(BareTransactions bare, int times) throws Exception {
        long start = System.nanoTime();
        bare.commit(times);
        return (System.nanoTime() - start) / 1e6 / times;
    }

    private static double millisAJob(Path folder, NewJob job, int times) {
        try (SlothQueue queue = SlothQueue.open(folder)) {
            queue.addAll("bench", Stream.generate(() -> job).limit(times).iterator());
        }
        Silent silent = new Silent();
        Worker.Settings settings = new Worker.Settings(List.of(), 1, Duration.ZERO, false, null);
        try (Worker worker = new Worker(new QueueFolder(folder), Clock.system(), settings, silent)) {
            worker.run();
        }
        return silent.millisAJob();
    }

    /** Others that run commands one after another. */
    private enum Rival {
        NQ("nq", "i=0; while [ $i -lt $N ]; do nq -q true; i=$((i+1)); done; nq -w"),
        TSP("tsp", "i=0; while [ $i -lt $N ]; do tsp -n true >/dev/null; i=$((i+1)); done; tsp -w; tsp -K");

        private final String program;
        private final String script;

        Rival(String program, String script) {
            this.program = program;
            this.script = script;
        }

        String program() {
            return program;
        }

        boolean isHere() {
            return Guard.which(program) != null;
        }

        double millisAJob(Path folder, int times) throws IOException, InterruptedException {
            Path own = Files.createTempDirectory(folder, program);
            ProcessBuilder shell = new ProcessBuilder("sh", "-c", script).directory(own.toFile())
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
            shell.environment().putAll(Map.of("N", Integer.toString(times), "NQDIR", own.toString(),
                "TS_SOCKET", own.resolve("socket").toString()));
            long start = System.nanoTime();
            shell.start().waitFor();
            return (System.nanoTime() - start) / 1e6 / times;
        }
    }
}
