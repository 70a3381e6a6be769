package sloth;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A folder, and the real program to use in it: {@code here.slothq("add", "nosuch").exits(2).says("no job file")}.
 * As an instance field a folder for each test, as a static one a folder for the class. At the end nothing that was
 * started may be alive; what is gets killed, and fails the test.
 *
 * <p>Tests wait for what is printed or for what stands in the queue, never for a time; {@link #LONG} only ends a wait
 * that has failed.
 */
final class Cli implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    static final Duration LONG = Duration.ofMinutes(2);
    private static final Path PROC = Path.of("/proc");

    private final List<Live> started = new ArrayList<>();
    private Path top;
    private Path folder;
    private boolean forClass;

    // ---- the folder

    @Override public void beforeAll(ExtensionContext context) throws IOException {
        forClass = true;
        make();
    }

    @Override public void beforeEach(ExtensionContext context) throws IOException {
        if (!forClass) {
            make();
        }
    }

    @Override public void afterEach(ExtensionContext context) throws IOException {
        if (!forClass) {
            clear();
        }
    }

    @Override public void afterAll(ExtensionContext context) throws IOException {
        if (forClass) {
            clear();
        }
    }

    private void make() throws IOException {
        top = Files.createTempDirectory("slothq-test").toRealPath();
        folder = Files.createDirectory(top.resolve("folder"));
    }

    private void clear() throws IOException {
        started.stream().filter(l -> l.process.isAlive()).forEach(l -> l.process.destroyForcibly());
        started.forEach(Live::await);
        // The guard ends a group within a second of its worker; a zombie counts as gone.
        boolean clean = waitFor(Duration.ofSeconds(5), () -> ours().isEmpty());
        List<Long> left = ours();
        List<String> what = left.stream().map(Cli::commandLine).toList();
        left.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
        QueueFolder.deleteTree(top);
        assertTrue(clean, "left alive: " + what);
    }

    /** The processes of this folder's jobs, wherever they went: they carry its path in their environment. */
    private List<Long> ours() {
        byte[] mark = ("SLOTHQ_FOLDER=" + top).getBytes(StandardCharsets.UTF_8);
        try (Stream<Path> all = Files.list(PROC)) {
            return all.map(p -> p.getFileName().toString()).filter(n -> n.matches("\\d+")).map(Long::valueOf)
                .filter(pid -> isAlive(pid) && has(PROC.resolve(pid + "/environ"), mark)).toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    private static boolean has(Path file, byte[] part) {
        try {
            byte[] all = Files.readAllBytes(file);
            return new String(all, StandardCharsets.ISO_8859_1).contains(new String(part, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return false;
        }
    }

    private static String commandLine(long pid) {
        try {
            return pid + " " + Files.readString(PROC.resolve(pid + "/cmdline"), StandardCharsets.ISO_8859_1).replace('\0', ' ');
        } catch (IOException e) {
            return pid + " (gone)";
        }
    }

    /** The queue folder. */
    Path folder() {
        return folder;
    }

    /** Goes on in a new folder of that name. */
    Cli in(String name) throws IOException {
        folder = Files.createDirectory(top.resolve(name));
        return this;
    }

    /** Writes a file; one that begins with {@code #!} may be run. */
    Path file(String name, String text) {
        try {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            // At one stroke, and with its run bit: a worker may be looking.
            Path fresh = Files.writeString(top.resolve("fresh"), text);
            fresh.toFile().setExecutable(text.startsWith("#!"));
            return Files.move(fresh, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes {@code jobs/NAME.sh}, a line for each string. */
    Path sh(String name, String... lines) {
        return file("jobs/" + name + ".sh", "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    }

    String read(String name) {
        try {
            return Files.readString(folder.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean has(String name) {
        return Files.exists(folder.resolve(name));
    }

    /** Waits for a file with a number in it, whole: its line has ended. */
    long pidIn(String name) {
        until(name + " is written", () -> has(name) && read(name).endsWith("\n"));
        return Long.parseLong(read(name).strip());
    }

    /** Each file below the folder with its content: to see that nothing changed. */
    Map<String, String> everything() {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path f : (Iterable<Path>) files::iterator) {
                String content = Files.isDirectory(f) ? "folder" : Files.readString(f, StandardCharsets.ISO_8859_1);
                all.put(folder.relativize(f).toString(), content);
            }
            return all;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    // ---- the queue, as its file has it

    private <T> T look(Function<SlothQueue, T> look) {
        try (SlothQueue queue = SlothQueue.look(new QueueFolder(folder))) {
            return look.apply(queue);
        }
    }

    JobRecord job(long id) {
        return look(q -> q.job(id).orElseThrow(() -> new AssertionError("no job " + id)));
    }

    List<JobRecord> jobs() {
        return look(SlothQueue::list);
    }

    List<Event> history(long id) {
        return look(q -> q.history(id));
    }

    /** The names of what happened: {@code added claimed done}. */
    String events(long id) {
        return String.join(" ", history(id).stream().map(Event::event).toList());
    }

    /** What the history says under a name, in order; nothing where it does not. */
    List<Object> details(long id, String name) {
        return history(id).stream().map(e -> e.detail().get(name)).filter(java.util.Objects::nonNull).toList();
    }

    /** Waits until the job stands so. */
    JobRecord untilJob(long id, State state) {
        until("job " + id + " is " + state, () -> look(q -> q.job(id)).map(j -> j.state() == state).orElse(false));
        return job(id);
    }

    // ---- the program

    /** Runs one command to its end, in a JVM that was warm already. */
    Said slothq(String... args) {
        return WarmCli.run(folder, args);
    }

    /** Runs one command to its end, in a process of its own with this folder as its working folder. */
    Said process(String... args) {
        return start(args).ends();
    }

    /** A process of its own: what it writes is read, its stdin is open. */
    Live start(String... args) {
        return start(Map.of(), args);
    }

    Live start(Map<String, String> environment, String... args) {
        List<String> command = new ArrayList<>(List.of("slothq"));
        command.addAll(List.of(args));
        Live live = java(folder, environment, command);
        started.add(live);
        return live;
    }

    /** A shell of which the program is a part: {@code "$@"} starts it. */
    Live shell(Map<String, String> environment, String script) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
        command.addAll(javaCommand(List.of("slothq")));
        Live live = new Live(command, folder, environment);
        started.add(live);
        return live;
    }

    static Live java(Path folder, List<String> mainAndArgs) {
        return java(folder, Map.of(), mainAndArgs);
    }

    private static Live java(Path folder, Map<String, String> environment, List<String> mainAndArgs) {
        return new Live(javaCommand(mainAndArgs), folder, environment);
    }

    private static List<String> javaCommand(List<String> mainAndArgs) {
        List<String> command = new ArrayList<>();
        if (isIgnoringInterrupts()) {
            command.addAll(List.of("env", "--default-signal=INT"));
        }
        command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path")));
        command.addAll(mainAndArgs);
        return command;
    }

    /** A shell without job control starts background commands so, and a JVM hands it on to its children. */
    private static boolean isIgnoringInterrupts() {
        try (Stream<String> lines = Files.lines(PROC.resolve("self/status"))) {
            return lines.filter(l -> l.startsWith("SigIgn:")).anyMatch(l -> (Long.parseUnsignedLong(l.substring(7).strip(), 16) & 2) != 0);
        } catch (IOException e) {
            return false;
        }
    }

    /** A JVM says when it takes options from its environment. */
    static String withoutJvmNotes(String text) {
        return text.replaceAll("(?m)^Picked up \\w+: .*\\R", "");
    }

    // ---- waiting

    static void until(String what, BooleanSupplier is) {
        assertTrue(waitFor(LONG, is), "not within " + LONG.toSeconds() + " s: " + what);
    }

    static boolean waitFor(Duration most, BooleanSupplier is) {
        long start = System.nanoTime();
        for (long millis = 5; !is.getAsBoolean(); millis = Math.min(50, millis + 5)) {
            if (System.nanoTime() - start > most.toNanos()) {
                return false;
            }
            pause(Duration.ofMillis(millis));
        }
        return true;
    }

    static void pause(Duration length) {
        try {
            Thread.sleep(length.toMillis());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A zombie that waits for its parent is not alive. */
    static boolean isAlive(long pid) {
        try {
            String stat = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
            return "ZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0;
        } catch (NoSuchFileException e) {
            return !Files.exists(PROC.resolve("self/stat")) && ProcessHandle.of(pid).isPresent();
        } catch (IOException e) {
            return false;
        }
    }

    static void signal(String name, long pid) {
        try {
            List<String> kill = List.of("sh", "-c", "kill -s \"$0\" \"$1\"", name, Long.toString(pid));
            assertEquals(0, new ProcessBuilder(kill).inheritIO().start().waitFor());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A process of ours, with what it has written so far. */
    static final class Live {

        private final Path folder;
        private final Process process;
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();
        private final ByteArrayOutputStream err = new ByteArrayOutputStream();
        private final Thread outReader;
        private final Thread errReader;

        Live(List<String> command, Path folder, Map<String, String> environment) {
            this.folder = folder;
            ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
            builder.environment().keySet().removeIf(n -> n.startsWith("SLOTHQ_") || n.equals("NO_COLOR") || n.equals("LANG"));
            builder.environment().put("LC_ALL", "C.UTF-8");
            builder.environment().putAll(environment);
            try {
                process = builder.start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            outReader = reader(process.getInputStream(), out);
            errReader = reader(process.getErrorStream(), err);
        }

        private static Thread reader(InputStream from, ByteArrayOutputStream to) {
            Thread thread = new Thread(() -> {
                try {
                    from.transferTo(to);
                } catch (IOException e) {
                    // It has ended.
                }
            });
            thread.setDaemon(true);
            thread.start();
            return thread;
        }

        Process process() {
            return process;
        }

        long pid() {
            return process.pid();
        }

        String out() {
            return out.toString(StandardCharsets.UTF_8);
        }

        String err() {
            return withoutJvmNotes(err.toString(StandardCharsets.UTF_8));
        }

        byte[] takeOut() {
            return take(out);
        }

        byte[] takeErr() {
            return take(err);
        }

        private static byte[] take(ByteArrayOutputStream from) {
            byte[] bytes = from.toByteArray();
            from.reset();
            return bytes;
        }

        /** Waits until it has printed this. */
        Live printsSoon(String text) {
            until("stdout has '" + text + "', but is: " + out(), () -> out().contains(text) || !process.isAlive());
            assertTrue(waitFor(Duration.ofSeconds(2), () -> out().contains(text)), "ended without '" + text + "': " + out() + err());
            return this;
        }

        /** Waits until it has said this on stderr. */
        Live saysSoon(String text) {
            until("stderr has '" + text + "', but is: " + err(), () -> err().contains(text) || !process.isAlive());
            assertTrue(waitFor(Duration.ofSeconds(2), () -> err().contains(text)), "ended without '" + text + "': " + out() + err());
            return this;
        }

        Live types(byte[] stdin) {
            try (var in = process.getOutputStream()) {
                in.write(stdin);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return this;
        }

        Live signal(String name) {
            Cli.signal(name, pid());
            return this;
        }

        /** SIGSTOP, but not in the middle of a write: then everybody would wait for it, as the README has it. */
        Live freeze() {
            for (signal("STOP"); !canWrite(); signal("STOP")) {
                signal("CONT");
                pause(Duration.ofMillis(20));
            }
            return this;
        }

        private boolean canWrite() {
            try (var c = Db.connect(new QueueFolder(folder).database()); var s = c.createStatement()) {
                s.execute("PRAGMA busy_timeout = 200");
                s.executeUpdate("BEGIN IMMEDIATE");
                s.executeUpdate("ROLLBACK");
                return true;
            } catch (SQLException e) {
                assertTrue(Trouble.isBusy(e), e.toString());
                return false;
            }
        }

        /** kill -9, and it is gone. */
        void killed() {
            signal("KILL");
            await();
        }

        private void await() {
            try {
                assertTrue(process.waitFor(LONG.toSeconds(), TimeUnit.SECONDS), "still runs: " + out() + err());
                // What it started may hold its pipes open.
                outReader.join(2_000);
                errReader.join(2_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        Said ends() {
            await();
            return new Said(process.exitValue(), out.toByteArray(), err());
        }

        /** For a process that must not end before something else happens. */
        boolean endsWithin(Duration most) {
            try {
                process.onExit().get(most.toMillis(), TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException e) {
                return false;
            } catch (InterruptedException | java.util.concurrent.ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** How a command ended and what it wrote, with sentences to expect of it. */
    record Said(int code, byte[] bytes, String err) {

        String out() {
            return new String(bytes, StandardCharsets.UTF_8);
        }

        Said exits(int expected) {
            assertEquals(expected, code, () -> "exit code; it wrote: " + this);
            return this;
        }

        /** Stdout, exactly; each line ends. */
        Said prints(String... lines) {
            assertEquals(Arrays.stream(lines).map(l -> l + "\n").reduce("", String::concat), out(), err);
            return this;
        }

        /** Stdout has a line that contains all of these words in this order. */
        Said hasLine(String... words) {
            String pattern = ".*" + String.join(".*", Arrays.stream(words).map(java.util.regex.Pattern::quote).toList()) + ".*";
            assertTrue(out().lines().anyMatch(l -> l.matches(pattern)), () -> "no line with " + List.of(words) + ": " + this);
            return this;
        }

        /** Stdout is this JSON to the letter, but for times, which are {@code TIME}, workers, {@code WORKER}, and the host. */
        Said printsJson(String expected) {
            assertEquals(expected + "\n", out().replaceAll("\"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z\"", "\"TIME\"")
                .replaceAll("\"[\\w.-]+-\\d+-[0-9a-f]{5}\"", "\"WORKER\"").replaceAll("\"host\":\"[^\"]+\"", "\"host\":\"HOST\""), err);
            return this;
        }

        /** Stderr contains each of these. */
        Said says(String... words) {
            for (String w : words) {
                assertTrue(err.contains(w), () -> "stderr lacks '" + w + "': " + this);
            }
            return this;
        }

        /** Nothing on stderr. */
        Said quietly() {
            assertEquals("", err);
            return this;
        }

        /** Refused: one line that begins with our name, nothing on stdout, exit 2. */
        Said refuses(String... words) {
            exits(2).says(words);
            assertEquals("", out(), "stdout");
            assertTrue(err.matches("slothq: [^\n]+\n"), () -> "not one line: " + err);
            return this;
        }

        @Override public String toString() {
            return "exit " + code + "\n--- stdout\n" + out() + "--- stderr\n" + err;
        }
    }
}
