package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A machine whose clocks the test holds in its hand: real processes, which see another wall clock and another
 * /proc/uptime, and which can be put to sleep as a closed lid does. Needs Linux, root, a C compiler and cgroup v2.
 *
 * <p>A suspend, as its processes see it: all are frozen, the wall clock and the boot time go on, the monotonic clock does not.
 */
final class Rig implements AutoCloseable {

    private static final AtomicInteger COUNT = new AtomicInteger();
    private static final Duration PUBLISH = Duration.ofMillis(20);
    private static String whyNot;

    private final Cli cli;
    private final Path state;
    private final Thread publisher = new Thread(this::publish, "uptime");
    private volatile long wallNanos;
    private volatile long bootNanos;
    private volatile boolean closed;

    private Rig(Cli cli) throws IOException {
        this.cli = cli;
        this.state = Files.createTempDirectory("slothq-rig");
        compile("wallshim", state);
        Files.copy(source("rig.sh"), state.resolve("rig.sh"));
        Files.writeString(state.resolve("name"), "slothq-test-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet());
        set(0);
        writeUptime();
        call("make");
        publisher.setDaemon(true);
        publisher.start();
    }

    /** The test is skipped where there can be none. */
    static Rig of(Cli cli) throws IOException {
        String reason = whyNot();
        assumeTrue(reason == null, () -> "no rig: " + reason);
        return new Rig(cli);
    }

    /** @return null when a rig works here */
    static synchronized String whyNot() {
        if (whyNot == null) {
            whyNot = missing();
        }
        return whyNot.isEmpty() ? null : whyNot;
    }

    private static String missing() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return "it needs Linux";
        }
        if (!isRoot()) {
            return "it needs root, to change what its processes see";
        }
        if (!hasCompiler()) {
            return "it needs gcc";
        }
        Cli.Said said = run("unshare", "-m", "sh", "-c", """
            mount -t cgroup2 cgroup2 /mnt && mkdir "/mnt/$1" && test -e "/mnt/$1/cgroup.freeze" && rmdir "/mnt/$1\"""",
            "sh", "slothq-probe-" + ProcessHandle.current().pid());
        return said.code() == 0 ? "" : "it needs unshare and cgroup v2 with its freezer: " + said.err().strip();
    }

    static Cli.Said run(String... command) {
        return new Cli.Live(List.of(command), Path.of("/"), Map.of()).ends();
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    static boolean hasCompiler() {
        return Guard.which("gcc") != null;
    }

    /** tests/rig, seen from the project's folder. */
    static Path source(String name) {
        return Path.of("tests", "rig", name).toAbsolutePath();
    }

    /** @return the library to preload */
    static Path compile(String name, Path folder) {
        Path library = folder.resolve(name + ".so");
        run("gcc", "-O2", "-Wall", "-shared", "-fPIC", "-o", library.toString(), source(name + ".c").toString()).exits(0);
        return library;
    }

    // ---- its processes

    /** slothq in this machine. */
    Cli.Live start(String... args) {
        return start(Map.of(), args);
    }

    Cli.Live start(Map<String, String> environment, String... args) {
        // The arguments are words of ours: none needs a quote.
        return cli.shell(environment, "exec unshare -m sh " + state + "/rig.sh " + state + " run \"$@\" " + String.join(" ", args));
    }

    /** Any command in this machine; it ends with it. */
    Cli.Live start(List<String> command) {
        List<String> all = script("run");
        all.addAll(command);
        return new Cli.Live(all, cli.folder(), Map.of());
    }

    private List<String> script(String verb) {
        return new ArrayList<>(List.of("unshare", "-m", "sh", state.resolve("rig.sh").toString(), state.toString(), verb));
    }

    private void call(String verb) {
        run(script(verb).toArray(String[]::new)).exits(0);
    }

    // ---- its clocks

    /** The lid is closed, and opened so much later. */
    void sleep(Duration length) {
        call("freeze");
        bootNanos += length.toNanos();
        set(wallNanos + length.toNanos());
        writeUptime();
        call("thaw");
    }

    /** The wall clock is set, and nothing else. */
    void step(Duration by) {
        set(wallNanos + by.toNanos());
    }

    void stepTo(Instant time) {
        step(Duration.ofMillis(time.toEpochMilli() - clock().millis()));
    }

    /** All its processes stand still in real time, as in a stopped virtual machine. */
    void pause(Duration length) {
        call("freeze");
        Cli.pause(length);
        call("thaw");
    }

    /** The clocks that its processes read. */
    Clock clock() {
        return new Clock() {
            @Override public long millis() {
                return System.currentTimeMillis() + wallNanos / 1_000_000;
            }

            @Override public long nanos() {
                return System.nanoTime();
            }

            @Override public long uptimeMillis() {
                return Clock.system().uptimeMillis() + bootNanos / 1_000_000;
            }
        };
    }

    private void set(long nanos) {
        write("wall", ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(0, nanos));
        wallNanos = nanos;
    }

    /** Always as long as before, and in one write: nobody reads half of it. */
    private synchronized void writeUptime() {
        String text = String.format(Locale.ROOT, "%.2f 1.00", clock().uptimeMillis() / 1000.0);
        write("uptime", ByteBuffer.wrap(String.format("%-30s%n", text).getBytes(StandardCharsets.US_ASCII)));
    }

    private void write(String name, ByteBuffer bytes) {
        try (FileChannel file = FileChannel.open(state.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(bytes, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void publish() {
        while (!closed) {
            writeUptime();
            Cli.pause(PUBLISH);
        }
    }

    /** Nothing that was started here is left. */
    @Override public void close() {
        call("end");
        closed = true;
        try {
            publisher.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        QueueFolder.deleteTree(state);
    }
}
