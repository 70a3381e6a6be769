package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A worker with a small heap and very many jobs: whatever it kept for each of them would end it. */
final class MemoryBench implements Bench {

    private static final String HEAP = "-Xmx64m";

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int jobs = quick ? 2_000 : 200_000;
        Path queueFolder = folder.resolve("queue");
        JobFiles.write(queueFolder);
        List<String> command = new ArrayList<>(Programs.build(folder).slothq("run", "--no-wait"));
        command.add(1, HEAP);
        try (SlothQueue queue = SlothQueue.open(queueFolder)) {
            queue.addAll("bench", Stream.generate(() -> NewJob.file(JobFiles.HOSTED)).limit(jobs).iterator());
            long start = System.nanoTime();
            long most = mostResident(Programs.started(queueFolder, command));
            double seconds = (System.nanoTime() - start) / 1e9;
            long done = queue.count(new SlothQueue.Filter(State.DONE, null, null, null));
            String figure = "%d done in %.0f s, %d MB".formatted(done, seconds, most >> 10);
            figures.judged("run of " + jobs + " hosted jobs, " + HEAP + ", MB resident", figure, "", "all done", done == jobs);
        }
    }

    /** In KB, as the kernel counts it; 0 where it does not tell. */
    private static long mostResident(Process process) throws InterruptedException {
        long most = 0;
        do {
            try (var lines = Files.lines(Path.of("/proc/" + process.pid() + "/status"))) {
                most = lines.filter(l -> l.startsWith("VmHWM:"))
                    .mapToLong(l -> Long.parseLong(l.replaceAll("\\D", ""))).findFirst().orElse(most);
            } catch (IOException e) {
                // It has ended, or this is no Linux.
            }
        } while (!process.waitFor(200, TimeUnit.MILLISECONDS));
        return most;
    }
}
