package sloth;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Disks that are full or read-only, files that are damaged, gone, locked or not ours: one line, exit 3, nothing made worse. */
@DisplayName("A bad disk")
@Execution(ExecutionMode.CONCURRENT)
class BadDiskTest {

    private static final int BLOCK = 4096;
    /** Every command that needs the queue's file. */
    private static final List<String> COMMANDS = List.of("run", "add -- true", "add welcome", "status", "list", "show 1", "log 1", "wait 1",
        "retry 1", "retry --failed", "cancel 1", "prune", "init", "doctor", "backup copy.db");

    @RegisterExtension final Cli cli = new Cli();

    // ---- full

    @Test void that_is_full_takes_a_job_whole_or_not_at_all() throws Exception {
        try (Mount disk = Mount.over(cli, "size=2m")) {
            cli.slothq("init").exits(0);
            Path lines = Files.writeString(cli.folder().resolveSibling("lines"), ("x".repeat(1_000) + "\n").repeat(3_000));
            assertUnusable(cli.slothq("add", "--each", lines.toString(), "--", "true"), "the disk is full");
            cli.slothq("status").exits(0).hasLine("no jobs");
            // One by one, up to the edge.
            disk.fill(400 << 10);
            long added = 0;
            Cli.Said said = cli.slothq("add", "--", "echo", "x".repeat(20_000));
            for (; said.code() == 0; said = cli.slothq("add", "--", "echo", "x".repeat(20_000))) {
                added++;
                assertTrue(added < 1_000, "the disk was never full");
            }
            assertUnusable(said, "the disk is full");
            disk.clear();
            assertEquals(added, cli.jobs().size(), "as many as were acknowledged");
            assertSound();
        }
    }

    @Test void that_fills_up_under_a_worker_makes_it_wait_and_not_spin() throws Exception {
        try (Mount disk = Mount.over(cli, "size=2m")) {
            cli.slothq("add", "--", "sh", "-c", "echo $$ > main; until [ -e go ]; do sleep 0.1; done").exits(0);
            cli.slothq("add", "--", "true").exits(0);
            Cli.Live worker = cli.start("run");
            cli.pidIn("main");
            Files.createFile(cli.folder().resolve("go"));
            disk.fill(0);
            worker.saysSoon("the disk is full");
            Duration before = cpu(worker);
            Cli.pause(Duration.ofSeconds(4));
            Duration used = cpu(worker).minus(before);
            long lines = worker.err().lines().filter(l -> l.contains("the disk is full")).count();
            assertTrue(lines <= 2, "once for the outcome and once for the heartbeat, but it said so " + lines + " times");
            assertTrue(used.toMillis() < 1_500, "it spins: " + used + " of processor time in four seconds");
            disk.clear();
            worker.ends().exits(0);
            assertEquals("added claimed done", cli.events(1));
            assertEquals("added claimed done", cli.events(2));
            assertSound();
        }
    }

    private static Duration cpu(Cli.Live process) {
        return process.process().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    @Test void that_is_full_before_a_worker_starts_is_told_at_once() throws Exception {
        try (Mount disk = Mount.over(cli, "size=2m")) {
            cli.slothq("add", "--", "true").exits(0);
            disk.fill(0);
            assertUnusable(cli.process("run"), "the disk is full");
            disk.clear();
            cli.process("run").exits(0);
            assertEquals("added claimed done", cli.events(1));
        }
    }

    // ---- read-only

    @Test void that_is_read_only_is_not_written_and_not_hidden() throws Exception {
        try (Mount disk = Mount.over(cli, "size=2m")) {
            cli.slothq("add", "--", "true").exits(0);
            byte[] before = Files.readAllBytes(database());
            disk.remount("ro");
            for (String command : List.of("run", "add -- true", "cancel 1", "prune", "retry --failed", "init")) {
                assertUnusable(cli.slothq(command.split(" ")), database().toString());
            }
            assertArrayEquals(before, Files.readAllBytes(database()));
            disk.remount("rw");
            cli.process("run").exits(0);
        }
    }

    @Test void whose_queue_file_is_read_only_can_be_looked_at() throws Exception {
        assumeTrue(Rig.isRoot() && Guard.which("chattr") != null, "it needs root and chattr: for root, no mode makes a file read-only");
        cli.slothq("add", "--", "true").exits(0);
        assumeTrue(Rig.run("chattr", "+i", database().toString()).code() == 0, "this file system has no immutable files");
        try {
            for (String command : List.of("run", "add -- true", "cancel 1")) {
                assertUnusable(cli.slothq(command.split(" ")), "cannot be written", "read-only");
            }
            cli.slothq("list").exits(0).hasLine("1", "pending", "true");
        } finally {
            Rig.run("chattr", "-i", database().toString()).exits(0);
        }
    }

    @Test void that_is_somebody_elses_is_said_to_be() throws Exception {
        assumeTrue(Rig.isRoot() && Guard.which("setpriv") != null, "it needs root and setpriv, to become somebody else");
        cli.slothq("add", "--", "true").exits(0);
        Path library = readableByAll(cli.folder().resolveSibling("lib"));
        cli.folder().getParent().toFile().setExecutable(true, false);
        cli.folder().toFile().setReadable(true, false);
        cli.folder().toFile().setExecutable(true, false);
        Path java = Path.of(System.getProperty("java.home"), "bin", "java");
        String nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups '" + java + "' --enable-native-access=ALL-UNNAMED"
            + " -cp '" + library + "/*:" + library + "' slothq ";
        for (String command : List.of("add -- true", "run")) {
            Cli.Said said = cli.shell(Map.of("HOME", "/nonexistent"), nobody + command).ends();
            assumeTrue(!said.err().contains("Could not find or load main class"), "nobody may read the classes");
            assertUnusable(said, "cannot be", database().getParent().toString());
        }
        assertEquals(1, cli.jobs().size());
    }

    /** The jars of a home folder are closed to others. */
    private static Path readableByAll(Path folder) throws IOException {
        Files.createDirectories(folder);
        for (String entry : System.getProperty("java.class.path").split(java.io.File.pathSeparator)) {
            Rig.run("cp", "-r", Files.isDirectory(Path.of(entry)) ? entry + "/." : entry, folder.toString());
        }
        Rig.run("chmod", "-R", "a+rX", folder.toString(), folder.getParent().toString()).exits(0);
        return folder;
    }

    // ---- not a queue

    @Test void that_wrote_noise_over_the_file_is_refused_by_every_command_and_keeps_its_bytes() throws Exception {
        byte[] noise = new byte[BLOCK];
        new Random(1).nextBytes(noise);
        assertRefusedByAll(noise, "is not a database");
    }

    @Test void that_holds_another_program_s_database_is_refused_by_every_command_and_keeps_its_bytes() throws Exception {
        Path foreign = cli.folder().resolve("foreign.db");
        try (Connection c = DriverManager.getConnection("jdbc:sqlite:" + foreign); var s = c.createStatement()) {
            s.executeUpdate("CREATE TABLE diary (day TEXT)");
        }
        assertRefusedByAll(Files.readAllBytes(foreign), "not a slothq queue");
    }

    @Test void that_cut_the_file_to_nothing_is_refused_once_jobs_have_run() throws Exception {
        cli.slothq("add", "--", "true").exits(0);
        cli.process("run").exits(0);
        assertRefusedByAll(new byte[0], "is empty, though jobs have run here");
    }

    @Test void that_is_full_under_what_is_printed_is_said() {
        assumeTrue(Files.exists(Path.of("/dev/full")), "no /dev/full here");
        cli.slothq("add", "--", "true").exits(0);
        cli.shell(Map.of(), "\"$@\" list >/dev/full").ends().exits(3).says("could be written to standard output");
        cli.shell(Map.of(), "\"$@\" list | true").ends().quietly();
    }

    private void assertRefusedByAll(byte[] bytes, String why) throws IOException {
        cli.slothq("init").exits(0);
        Files.write(database(), bytes);
        for (String command : COMMANDS) {
            Cli.Said said = cli.slothq(command.split(" "));
            if (command.equals("doctor")) {
                said.exits(3).hasLine(why);
            } else {
                assertUnusable(said, why, database().toString());
            }
            assertArrayEquals(bytes, Files.readAllBytes(database()), "changed by " + command);
        }
        assertTrue(Files.notExists(cli.folder().resolve("copy.db")), "a backup of nothing");
    }

    @Test void that_damaged_a_page_is_said_to_be_and_made_no_worse() throws Exception {
        cli.slothq("init").exits(0);
        Path lines = Files.writeString(cli.folder().resolveSibling("lines"), "another\n".repeat(300));
        cli.slothq("add", "--each", lines.toString(), "--", "true").exits(0);
        byte[] bytes = Files.readAllBytes(database());
        byte[] noise = new byte[number("PRAGMA page_size")];
        new Random(1).nextBytes(noise);
        int root = number("SELECT rootpage FROM sqlite_schema WHERE name = 'job'");
        System.arraycopy(noise, 0, bytes, (root - 1) * noise.length, noise.length);
        Files.write(database(), bytes);
        for (String command : List.of("add -- true", "status", "list", "show 1", "wait 1", "retry --failed", "cancel 1", "prune",
            "backup copy.db")) {
            assertUnusable(cli.slothq(command.split(" ")), "is damaged", database().toString());
            assertArrayEquals(bytes, Files.readAllBytes(database()), "changed by " + command);
        }
        assertTrue(Files.notExists(cli.folder().resolve("copy.db")), "half a backup");
        cli.slothq("doctor").exits(1).hasLine("bad", "is damaged");
        assertUnusable(cli.process("run"), "is damaged");
    }

    private int number(String sql) throws Exception {
        try (Connection c = Db.connect(database()); var s = c.createStatement(); var r = s.executeQuery(sql)) {
            return r.getInt(1);
        }
    }

    @Test void that_left_an_empty_file_is_a_fresh_queue() throws Exception {
        cli.slothq("init").exits(0);
        Files.write(database(), new byte[0]);
        cli.slothq("status").exits(0).prints("no jobs");
        cli.slothq("add", "--", "true").exits(0).prints("1");
        assertSound();
    }

    // ---- gone

    @Test void that_lost_the_file_between_two_runs_is_a_fresh_queue() throws Exception {
        cli.slothq("add", "--", "true").exits(0);
        Files.delete(database());
        cli.slothq("status").exits(0).prints("no jobs");
        cli.slothq("add", "--", "true").exits(0).prints("1");
        assertSound();
    }

    @Test void that_loses_the_file_under_a_worker_stops_it() throws Exception {
        assertStops(() -> {
            for (String name : List.of("queue.db", "queue.db-wal", "queue.db-shm")) {
                Files.deleteIfExists(database().resolveSibling(name));
            }
        });
        assertTrue(Files.notExists(database()), "it made a new one");
    }

    @Test void where_the_file_is_replaced_under_a_worker_stops_it() throws Exception {
        byte[] other = Files.readAllBytes(otherQueue());
        assertStops(() -> {
            Path fresh = Files.write(database().resolveSibling("fresh"), other);
            Files.move(fresh, database(), StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        });
    }

    private Path otherQueue() throws IOException {
        Path other = Files.createDirectory(cli.folder().resolveSibling("other"));
        try (SlothQueue queue = SlothQueue.open(other)) {
            queue.add(NewJob.command("true"));
        }
        return new QueueFolder(other).database();
    }

    @Test void where_the_folder_is_renamed_under_a_worker_stops_it_and_loses_nothing() throws Exception {
        Path folder = cli.folder();
        Path renamed = folder.resolveSibling("renamed");
        assertStops(() -> Files.move(folder, renamed));
        assertTrue(Files.notExists(folder), "it made the old one again");
        Files.move(renamed, folder);
        cli.sh("long", "true");
        cli.process("run").exits(0);
        assertEquals("added claimed reclaimed claimed done", cli.events(1));
    }

    private interface Damage {
        void happens() throws IOException;
    }

    /** A worker at a job ends with the reason, and so does the job. */
    private void assertStops(Damage damage) throws IOException {
        cli.sh("long", "#JOB lease=1s", "echo $$ > main", "exec sleep 300");
        Cli.Live worker = cli.start("run");
        long job = cli.pidIn("main");
        Cli.until("the worker has noted which process it is", () -> isNoted(job));
        damage.happens();
        Cli.Said said = worker.ends().exits(3).says("was moved, deleted or replaced");
        assertEquals(1, said.err().lines().filter(l -> l.contains("was moved")).count(), said.err());
        assertTrue(!said.err().contains("\tat "), said.err());
        assertTrue(Cli.waitFor(Duration.ofSeconds(3), () -> !Cli.isAlive(job)), "the job outlived its worker");
    }

    private boolean isNoted(long pid) {
        try (SlothQueue queue = SlothQueue.look(new QueueFolder(cli.folder()))) {
            return queue.processesOf(1).stream().anyMatch(p -> Long.valueOf(pid).equals(p.pid()));
        }
    }

    // ---- locked

    @Test void whose_file_is_locked_for_a_moment_is_waited_for() throws Exception {
        cli.slothq("init").exits(0);
        Cli.Live add;
        try (Connection c = Db.connect(database()); var s = c.createStatement()) {
            s.executeUpdate("BEGIN IMMEDIATE");
            add = cli.start("add", "--", "true");
            assertTrue(!add.endsWithin(Duration.ofSeconds(6)), "it did not wait for the lock: " + add.err());
            s.executeUpdate("ROLLBACK");
        }
        add.ends().exits(0).prints("1").quietly();
    }

    @Test void whose_file_stays_locked_is_given_up_by_add_and_waited_for_by_a_worker() throws Exception {
        cli.sh("first", "echo $$ > main", "until [ -e go ]; do sleep 0.1; done");
        cli.sh("second", "true");
        Cli.Live worker = cli.start("run");
        cli.pidIn("main");
        try (Connection c = Db.connect(database()); var s = c.createStatement()) {
            s.executeUpdate("BEGIN IMMEDIATE");
            Files.createFile(cli.folder().resolve("go"));
            assertUnusable(cli.process("add", "--", "true"), "locked by another process");
            worker.saysSoon("locked by another process");
            s.executeUpdate("ROLLBACK");
        }
        worker.ends().exits(0);
        assertEquals(2, cli.jobs().size());
        assertEquals("added claimed done", cli.events(1));
        assertEquals("added claimed done", cli.events(2));
    }

    // ---- places

    @Test void that_has_no_room_for_the_native_library_is_not_taken_for_a_bad_queue() throws Exception {
        try (Mount disk = Mount.over(cli, "size=256k,noexec")) {
            disk.fill(0);
            Map<String, String> environment =
                Map.of("JAVA_TOOL_OPTIONS", "-Djava.io.tmpdir=" + disk.folder + " -Duser.home=" + disk.folder);
            cli.in("queue");
            Cli.Said said = cli.start(environment, "add", "--", "true").ends();
            if (said.code() != 0) {
                assertUnusable(said, "library");
            }
        }
    }

    @Test void whose_path_is_too_long_for_sqlite_is_refused() throws Exception {
        String name = "x".repeat(200);
        Files.createDirectories(cli.folder().resolve(name).resolve(name));
        cli.in(cli.folder().getFileName() + "/" + name + "/" + name + "/" + name);
        assertUnusable(cli.slothq("add", "--", "true"), "too long");
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"what?mode=memory", "100%20", "a#b", "two words", "für Übung", "it's", "a;b&c"})
    void whose_folder_has_an_odd_name_holds_a_queue_like_any_other(String name) throws Exception {
        cli.in(name);
        cli.slothq("add", "--", "touch", "ran").exits(0).prints("1");
        cli.slothq("run").exits(0);
        assertTrue(cli.has("ran") && cli.has(".slothq/queue.db"), String.valueOf(cli.everything().keySet()));
        assertSound();
    }

    // ----

    private Path database() {
        return new QueueFolder(cli.folder()).database();
    }

    /** One line on stderr, nothing on stdout, exit 3. */
    private static void assertUnusable(Cli.Said said, String... words) {
        said.exits(3).says(words);
        assertEquals("", said.out());
        assertTrue(said.err().matches("slothq: [^\n]+\n"), () -> "not one line: " + said);
    }

    private void assertSound() {
        try (SlothQueue queue = SlothQueue.look(new QueueFolder(cli.folder()))) {
            assertEquals(List.of("ok"), queue.overview().integrity());
            assertEquals(List.of(), queue.overview().contradictions());
        }
    }

    /** A small file system of its own over the test's folder. */
    private record Mount(Path folder) implements AutoCloseable {

        static Mount over(Cli cli, String options) {
            assumeTrue(System.getProperty("os.name").equals("Linux") && Rig.isRoot(), "it needs Linux and root, to mount a small disk");
            Cli.Said said = Rig.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", cli.folder().toString());
            assumeTrue(said.code() == 0, () -> "nothing can be mounted here: " + said.err());
            return new Mount(cli.folder());
        }

        void remount(String option) {
            Rig.run("mount", "-o", "remount," + option, folder.toString()).exits(0);
        }

        /** Leaves so many bytes free. */
        void fill(long free) throws IOException {
            byte[] block = new byte[BLOCK];
            try (OutputStream ballast = Files.newOutputStream(folder.resolve("ballast"))) {
                while (free == 0 || Files.getFileStore(folder).getUsableSpace() > free) {
                    ballast.write(block);
                }
            } catch (IOException e) {
                assertNotEquals(0, Files.size(folder.resolve("ballast")));
            }
        }

        void clear() throws IOException {
            Files.delete(folder.resolve("ballast"));
        }

        @Override public void close() {
            // Lazily: when the test has failed, a process may still be in it.
            Rig.run("umount", "-l", folder.toString()).exits(0);
        }
    }
}
