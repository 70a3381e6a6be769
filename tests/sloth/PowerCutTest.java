package sloth;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A program works on a queue, and whatever it tells the disk is written down (tests/rig/powerlog.c). Then, for many
 * moments, the files are built that a power cut in that moment could have left: what was not synced is there, or not, or
 * in parts. kill -9 proves nothing of this: the kernel keeps what a killed process wrote.
 */
@DisplayName("A power cut")
@Execution(ExecutionMode.CONCURRENT)
class PowerCutTest {

    private static final int CUTS = 150;
    private static final int CYCLES = 150;
    private static final long SEED = Long.getLong("slothq.seed", 20_260_101L);

    /** In memory, where there is such a place: the syncs are written down, they need not be waited for. */
    private Path top;
    private Path folder;

    @BeforeEach void makeFolders() throws IOException {
        Path memory = Path.of("/dev/shm");
        top = Files.isWritable(memory) ? Files.createTempDirectory(memory, "slothq-test") : Files.createTempDirectory("slothq-test");
        folder = Files.createDirectory(top.resolve("folder"));
    }

    @AfterEach void clear() {
        QueueFolder.deleteTree(top);
    }

    @Test void loses_nothing_that_was_acknowledged() throws Exception {
        List<String> losses = cutAll(record("FULL"));
        assertEquals(List.of(), losses, "seed " + SEED);
    }

    /** The counterpart: with the cheaper commits of heartbeats there are losses, and the test above would see them. */
    @Test void would_lose_something_if_commits_did_not_wait_for_the_disk() throws Exception {
        List<String> losses = cutAll(record("NORMAL"));
        assertTrue(losses.size() > CUTS / 10, "only " + losses.size() + " of " + CUTS + " cuts lost something, seed " + SEED);
        assertTrue(losses.stream().allMatch(l -> l.contains("acknowledged")), "lost, but never damaged: " + losses);
    }

    // ---- the program

    private Path record(String mode) {
        assumeTrue(System.getProperty("os.name").equals("Linux"), "it needs LD_PRELOAD");
        assumeTrue(Rig.hasCompiler(), "it needs gcc");
        Path log = top.resolve("log");
        Map<String, String> environment = Map.of("LD_PRELOAD", Rig.compile("powerlog", top).toString(),
            "POWERLOG_DIR", folder.toString(), "POWERLOG_OUT", log.toString());
        List<String> java = List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", System.getProperty("java.class.path"), Work.class.getName(), folder.toString(), mode);
        new Cli.Live(java, folder, environment).ends().exits(0);
        return log;
    }

    /** Adds and ends jobs, and writes each word that it was given into a file, once it was given it. */
    static final class Work {

        private final SlothQueue queue;
        private final SlothQueue pulse;
        private final FileOutputStream acks;

        private Work(Path folder, boolean full) throws IOException {
            QueueFolder in = new QueueFolder(folder);
            SlothQueue made = SlothQueue.open(folder);
            this.pulse = SlothQueue.openForHeartbeats(in, Clock.system());
            this.queue = full ? made : pulse;
            this.acks = new FileOutputStream(folder.resolve("acks").toFile());
        }

        public static void main(String[] args) throws IOException {
            Work work = new Work(Path.of(args[0]), args[1].equals("FULL"));
            for (int i = 0; i < CYCLES; i++) {
                work.cycle(i);
            }
        }

        private void cycle(int i) throws IOException {
            NewJob job = NewJob.command("true", "x".repeat(i * 37 % 5_000)).attempts(1);
            acknowledged("added", queue.add(job).id());
            if (i % 5 == 4) {
                acknowledged("cancelled", queue.cancel(queue.add(job).id()).id());
            }
            // Every third job stays pending.
            Optional<Lease> lease = i % 3 == 2 ? Optional.empty() : queue.claim("worker");
            if (lease.isPresent()) {
                pulse.heartbeat(lease.get());
                boolean well = i % 2 == 0;
                if (well ? queue.complete(lease.get(), "well") : queue.fail(lease.get(), "badly")) {
                    acknowledged(well ? "done" : "failed", lease.get().id());
                }
            }
            if (i % 40 == 39) {
                queue.tidy();
            }
        }

        private void acknowledged(String word, long id) throws IOException {
            acks.write((word + " " + id + "\n").getBytes(StandardCharsets.US_ASCII));
        }
    }

    // ---- the cuts

    private List<String> cutAll(Path log) throws IOException {
        List<Op> ops = Op.read(log);
        Random random = new Random(SEED);
        int firstWord = 0;
        while (!ops.get(firstWord).isWord()) {
            firstWord++;
        }
        Set<Integer> moments = new TreeSet<>();
        while (moments.size() < CUTS) {
            // Some while the queue is being made, before anything was promised.
            moments.add(moments.size() < CUTS / 10 ? random.nextInt(firstWord) : firstWord + random.nextInt(ops.size() - firstWord));
        }
        List<String> losses = new ArrayList<>();
        Disk disk = new Disk(folder, random);
        int done = 0;
        for (int moment : moments) {
            for (; done < moment; done++) {
                disk.take(ops.get(done));
            }
            Path left = top.resolve("cut-" + moment);
            disk.leaveIn(left);
            wrong(left, disk.words).ifPresent(w -> losses.add("cut " + moment + ": " + w));
            QueueFolder.deleteTree(left);
        }
        return losses;
    }

    /** What is wrong with a queue after the cut; one line is enough. */
    private static Optional<String> wrong(Path folder, List<String> words) {
        try (SlothQueue queue = SlothQueue.open(folder)) {
            if (!queue.overview().integrity().equals(List.of("ok")) || !queue.overview().contradictions().isEmpty()) {
                return Optional.of("damaged: " + queue.overview().integrity() + " " + queue.overview().contradictions());
            }
            Map<Long, State> states = queue.list().stream().collect(Collectors.toMap(JobRecord::id, JobRecord::state));
            long newest = 0;
            for (String word : words) {
                String[] w = word.split(" ");
                long id = Long.parseLong(w[1]);
                newest = Math.max(newest, id);
                State state = states.get(id);
                if (state == null || !w[0].equals("added") && !state.word().equals(w[0])) {
                    return Optional.of("acknowledged '" + word + "', but it is " + state);
                }
            }
            // And it goes on from there.
            long next = queue.add(NewJob.command("true").priority(1)).id();
            boolean goesOn = next > newest && queue.complete(queue.claim("next").orElseThrow(), "well");
            return goesOn ? Optional.empty() : Optional.of("damaged: it does not go on");
        } catch (SlothException e) {
            return Optional.of("damaged: " + e.getMessage());
        }
    }

    /** One record of powerlog.c. @param kind W(rite), T(runcate), S(ync), U(nlink) */
    private record Op(char kind, Path file, long offset, byte[] data) {

        static List<Op> read(Path log) throws IOException {
            ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(log)).order(ByteOrder.LITTLE_ENDIAN);
            List<Op> ops = new ArrayList<>();
            while (in.hasRemaining()) {
                assertEquals(0x50574c47, in.getInt(), "magic");
                char kind = (char) in.get();
                in.position(in.position() + 3);
                long offset = in.getLong();
                byte[] data = new byte[(int) in.getLong()];
                byte[] name = new byte[(int) in.getLong()];
                in.get(name).get(data);
                ops.add(new Op(kind, Path.of(new String(name, StandardCharsets.UTF_8)), offset, data));
            }
            return ops;
        }

        boolean isWord() {
            return file.endsWith("acks");
        }

        /** Does a part of it again. */
        void redo(Content file, int from, int to) {
            if (kind == 'T') {
                file.cut((int) offset);
            } else {
                file.write((int) offset + from, data, from, to - from);
            }
        }
    }

    /** Bytes that grow. */
    private static final class Content {
        private byte[] bytes;
        private int length;

        Content(byte[] bytes) {
            this.bytes = bytes;
            this.length = bytes.length;
        }

        void write(int at, byte[] data, int from, int count) {
            grow(at + count);
            System.arraycopy(data, from, bytes, at, count);
        }

        void cut(int to) {
            grow(to);
            Arrays.fill(bytes, to, length, (byte) 0);
            length = to;
        }

        private void grow(int to) {
            if (to > bytes.length) {
                bytes = Arrays.copyOf(bytes, to * 2);
            }
            length = Math.max(length, to);
        }

        byte[] all() {
            return Arrays.copyOf(bytes, length);
        }
    }

    /** A disk with a cache that may write in any order, sector by sector, until it is told to sync. */
    private static final class Disk {

        private static final int SECTOR = 512;

        private final Path folder;
        private final Random random;
        private final Map<Path, Content> synced = new HashMap<>();
        private final Map<Path, List<Op>> cached = new LinkedHashMap<>();
        /** Files whose name is in a folder that was synced since: the others may not be there at all. */
        private final Set<Path> named = new HashSet<>();
        final List<String> words = new ArrayList<>();

        Disk(Path folder, Random random) {
            this.folder = folder;
            this.random = random;
        }

        void take(Op op) {
            if (op.isWord()) {
                words.add(new String(op.data, StandardCharsets.US_ASCII).strip());
            } else if (op.kind == 'U') {
                synced.remove(op.file);
                cached.remove(op.file);
                named.remove(op.file);
            } else if (op.kind == 'S' && Files.isDirectory(op.file)) {
                files().stream().filter(f -> f.getParent().equals(op.file)).forEach(named::add);
            } else if (op.kind == 'S') {
                Content file = synced.computeIfAbsent(op.file, f -> new Content(new byte[0]));
                cached.getOrDefault(op.file, List.of()).forEach(waiting -> waiting.redo(file, 0, waiting.data.length));
                cached.remove(op.file);
            } else {
                cached.computeIfAbsent(op.file, f -> new ArrayList<>()).add(op);
            }
        }

        private Set<Path> files() {
            Set<Path> files = new TreeSet<>(synced.keySet());
            files.addAll(cached.keySet());
            return files;
        }

        /** Writes what is left after a cut now. */
        void leaveIn(Path target) throws IOException {
            Files.createDirectories(target);
            for (Path f : files()) {
                // The -shm file is never synced, and made anew after a crash.
                if (!f.toString().endsWith("-shm") && (named.contains(f) || random.nextBoolean())) {
                    Path left = target.resolve(folder.relativize(f).toString());
                    Files.createDirectories(left.getParent());
                    Files.write(left, left(f));
                }
            }
        }

        private byte[] left(Path f) {
            Content content = new Content(synced.containsKey(f) ? synced.get(f).all() : new byte[0]);
            for (Op op : cached.getOrDefault(f, List.of())) {
                // A truncation has no data, and is done in one piece.
                for (int from = 0; from < Math.max(1, op.data.length); from += SECTOR) {
                    if (random.nextBoolean()) {
                        op.redo(content, from, Math.min(op.data.length, from + SECTOR));
                    }
                }
            }
            return content.all();
        }
    }
}
