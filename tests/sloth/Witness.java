package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What the jobs of a folder saw of each other: tests/rig/witness.sh, and the trace that it writes. */
final class Witness {

    private final Path folder;

    private Witness(Path folder) {
        this.folder = folder;
    }

    static Witness in(Path folder) throws IOException {
        Files.createDirectories(folder.resolve("jobs"));
        Witness witness = new Witness(folder);
        witness.job("witness.sh", "");
        return witness;
    }

    /** A job file of that name. @param options for its head: {@code lease=1s timeout=4s} */
    Witness job(String name, String options) throws IOException {
        return write(name, text("witness.sh", options));
    }

    /** A job that also starts a process which leaves its group and does not end. */
    Witness stray(String name, String options) throws IOException {
        return write(name, text("witness.sh", options).replace("\nstray=no\n", "\nstray=yes\n"));
    }

    /** A job in a warm JVM: {@code hosted.java}. */
    Witness hosted(String options) throws IOException {
        return write("hosted.java", text("hosted.java", options));
    }

    private static String text(String source, String options) throws IOException {
        return Files.readString(Rig.source(source)).replace("JOB run=added\n", "JOB run=added " + options + "\n");
    }

    private Witness write(String name, String text) throws IOException {
        Path file = folder.resolve("jobs").resolve(name);
        Files.writeString(file, text);
        file.toFile().setExecutable(true);
        return this;
    }

    /** One line of the trace. @param id the job's */
    record Line(String word, long id, int claim, List<String> rest) {
        long pid() {
            return Long.parseLong(rest.get(0));
        }
    }

    List<Line> lines() {
        try (Stream<String> lines = Files.lines(trace())) {
            return lines.map(l -> l.split(" ")).map(w -> {
                int dot = w[1].indexOf('.');
                return new Line(w[0], Long.parseLong(w[1].substring(0, dot)), Integer.parseInt(w[1].substring(dot + 1)),
                    List.of(w).subList(2, w.length));
            }).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path trace() throws IOException {
        Path trace = folder.resolve("trace");
        if (!Files.exists(trace)) {
            Files.createFile(trace);
        }
        return trace;
    }

    long count(String word, long id) {
        return lines().stream().filter(l -> l.word().equals(word) && l.id() == id).count();
    }

    Witness until(String word, long id, int times) {
        Cli.until(times + " × " + word + " of job " + id, () -> count(word, id) >= times);
        return this;
    }

    /** Pids of all lives that a job's attempts began. */
    List<Long> pids(long id) {
        return lines().stream().filter(l -> l.word().equals("start") && l.id() == id).map(Line::pid).toList();
    }

    /** No process of an earlier attempt lived when a later one began, and none spoke after that. */
    void assertNeverTwoAlive() {
        List<Line> overlaps = lines().stream().filter(l -> l.word().equals("overlap")).toList();
        assertEquals(List.of(), overlaps, "attempts of one job that lived at once");
        Map<Long, Integer> newest = new HashMap<>();
        for (Line line : lines()) {
            int before = newest.getOrDefault(line.id(), 0);
            assertTrue(line.claim() >= before, "after claim " + before + " had begun: " + line);
            newest.put(line.id(), line.claim());
        }
    }

    void assertNobodyLeft() {
        assertEquals(List.of(), living(), "processes that outlived their attempt");
    }

    /** Pids of the lives that go on. A pid may be used again by somebody else: the start time tells. */
    List<Long> living() {
        return lines().stream().filter(l -> l.word().equals("start") && Cli.isAlive(l.pid())
            && l.rest().get(1).equals(String.valueOf(ProcessTree.ticksOf(l.pid())))).map(Line::pid).toList();
    }

    /** Waits until so many bytes more stand in the trace, or a moment. */
    void untilMore(int bytes) throws IOException {
        long before = Files.size(trace());
        Cli.waitFor(Duration.ofSeconds(3), () -> folder.resolve("trace").toFile().length() >= before + bytes);
    }
}
