package sloth;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** One run of many jobs, each of which ends in its own way; each test looks at one. */
@DisplayName("An attempt")
class AttemptsTest {

    @RegisterExtension static final Cli here = new Cli();
    private static Cli.Said run;

    @BeforeAll static void run() {
        here.sh("done", "echo first", "echo; echo '  the last line  '", "echo '::progress 1/1'", "echo on stderr >&2", "echo");
        here.sh("giveup", "#JOB attempts=4", "echo 'no such input'", "exit 65");
        here.sh("notnow", "#JOB attempts=2 backoff=100ms..100ms",
            "echo . >> notnow", "[ $(wc -l < notnow) -gt 3 ] || { echo 'no network'; exit 75; }");
        here.sh("three", "#JOB attempts=1", "echo said; echo why >&2; exit 3");
        here.sh("silent", "#JOB attempts=1", "echo 'only on stderr' >&2; exit 3");
        here.sh("signal", "#JOB attempts=1", "kill -s SEGV $$");
        here.sh("timeout", "#JOB attempts=1 timeout=2s", "trap '' TERM", "while :; do echo busy; sleep 0.2; done");
        here.sh("stall", "#JOB attempts=1 stall=2s", "echo begun", "exec sleep 300");
        here.sh("busy", "#JOB attempts=1 stall=4s", "for i in 1 2 3 4 5 6; do echo \"::progress $i/6 half\"; sleep 1; done");
        here.sh("control", "printf 'a\\033[31mred\\a\\tb\\r\\n\\033[0m\\n'");
        here.sh("long", "head -c 100000 /dev/zero | tr '\\0' x");
        here.sh("env", "#JOB attempts=3", "env | grep ^SLOTHQ_ | sort", "touch \"$SLOTHQ_STATE/kept\"");
        here.sh("state", "#JOB attempts=2 backoff=50ms", "ls \"$SLOTHQ_STATE\"", "touch \"$SLOTHQ_STATE/kept\"; [ $SLOTHQ_ATTEMPT = 2 ]");
        here.sh("stdin", "n=$(wc -c); echo stdin $n");
        here.sh("cwd", "pwd");
        here.sh("raw", "printf 'a\\000b\\377\\r\\n\\n'", "printf 'no end'");
        here.sh("background", "#JOB attempts=1 timeout=40s", "sleep 300 &", "echo $! > background", "echo left");
        here.sh("deaf", "#JOB attempts=1 timeout=40s",
            "sh -c 'trap \"\" TERM; echo $$ > deaf; while :; do sleep 1; done' &", "until [ -s deaf ]; do sleep 0.05; done");
        here.sh("session", "#JOB attempts=1 timeout=40s",
            "setsid sh -c 'echo $$ > session.part; mv session.part session; exec sleep 300' &",
            "until [ -e session ]; do sleep 0.05; done; echo left");
        here.sh("torrent", "i=0; while [ $i -lt 30 ]; do printf 'MB%02d' $i; head -c 1048572 /dev/zero | tr '\\0' '.'; i=$((i + 1)); done");
        here.slothq("add", "--", "nosuchprogram", "x");
        run = here.process("run", "--parallel", "8");
    }

    private static JobRecord job(String name) {
        return here.jobs().stream().filter(j -> (name + ".sh").equals(j.job())).findFirst().orElseThrow();
    }

    private static byte[] log(String name) {
        return here.slothq("log", Long.toString(job(name).id())).exits(0).bytes();
    }

    private static String text(String name) {
        return new String(log(name), StandardCharsets.UTF_8);
    }

    private static void ends(String name, State state, int attempts, String message) {
        JobRecord job = job(name);
        assertEquals(state + " " + attempts + " " + message, job.state() + " " + job.attempts() + " " + job.message());
    }

    @Test void that_exits_0_is_done_and_its_last_line_that_is_no_progress_is_the_message() {
        ends("done", State.DONE, 1, "the last line");
    }

    @Test void that_exits_65_fails_the_job_at_once() {
        ends("giveup", State.FAILED, 1, "gave up (exit 65): no such input");
        assertEquals("added claimed failed", here.events(job("giveup").id()));
    }

    @Test void that_exits_75_is_not_counted_and_comes_again() {
        ends("notnow", State.DONE, 1, null);
        long id = job("notnow").id();
        assertEquals("added claimed retry claimed retry claimed retry claimed done", here.events(id));
        assertEquals(List.of("not now", "not now", "not now"), here.details(id, "reason"));
        assertEquals(4, job("notnow").claims());
    }

    @Test void that_exits_otherwise_fails_with_its_code_and_its_last_words() {
        ends("three", State.FAILED, 1, "exit 3: said");
        ends("silent", State.FAILED, 1, "exit 3: only on stderr");
        assertEquals(List.of(3L), here.details(job("three").id(), "exit"));
    }

    @Test void that_dies_of_a_signal_fails_with_it() {
        ends("signal", State.FAILED, 1, "killed by signal 11");
    }

    @Test void that_takes_longer_than_its_timeout_is_ended_though_it_does_not_listen() {
        ends("timeout", State.FAILED, 1, "timeout: not done after 2s");
        assertEquals(List.of("timeout"), here.details(job("timeout").id(), "reason"));
        assertTrue(text("timeout").startsWith("busy\nbusy\n"), "what it had written is there");
    }

    @Test void that_says_nothing_for_too_long_is_ended_and_one_that_tells_its_progress_is_not() {
        ends("stall", State.FAILED, 1, "stalled: no output or progress for 2s");
        assertEquals("begun\n", text("stall"));
        ends("busy", State.DONE, 1, null);
        assertEquals(new JobRecord.Progress(6, 6L, "half"), job("busy").progress());
    }

    @Test void has_a_message_without_control_characters_500_characters_at_most() {
        String message = job("control").message();
        assertFalse(message.matches("(?s).*\\p{Cntrl}.*"), message);
        assertTrue(message.startsWith("ared") && message.endsWith("b"), message);
        assertEquals(500, job("long").message().length());
        assertEquals("x".repeat(499) + "…", job("long").message());
        assertEquals(100_000, log("long").length);
    }

    @Test void knows_from_its_environment_who_it_is() {
        JobRecord job = job("env");
        String folder = here.folder().toString();
        List<String> lines = text("env").lines().filter(l -> !l.startsWith("SLOTHQ_TOKEN=") && !l.startsWith("SLOTHQ_RUN=")).toList();
        assertEquals(List.of("SLOTHQ_ATTEMPT=1", "SLOTHQ_FOLDER=" + folder, "SLOTHQ_ID=" + job.id(), "SLOTHQ_JOB=env.sh",
            "SLOTHQ_MAX_ATTEMPTS=3", "SLOTHQ_STATE=" + folder + "/.slothq/state/" + job.id()), lines);
        assertTrue(text("env").matches("(?s).*SLOTHQ_TOKEN=[0-9a-f-]{36}\n.*"));
        assertTrue(text("env").matches("(?s).*SLOTHQ_RUN=[0-9a-f]{32}:" + job.id() + "\\.1\n.*"));
    }

    @Test void has_a_folder_that_lives_until_the_job_is_done() {
        long id = job("state").id();
        ends("state", State.DONE, 2, "kept");
        assertFalse(here.has(".slothq/state/" + id));
        here.slothq("log", Long.toString(id), "--attempt", "1").exits(0).prints();
        here.slothq("log", Long.toString(id), "--attempt", "2").exits(0).prints("kept");
    }

    @Test void has_an_empty_stdin_and_the_queue_folder_as_its_own() {
        ends("stdin", State.DONE, 1, "stdin 0");
        ends("cwd", State.DONE, 1, here.folder().toString());
    }

    @Test void leaves_its_output_byte_for_byte() {
        assertArrayEquals("a\0b\u00ff\r\n\nno end".getBytes(StandardCharsets.ISO_8859_1), log("raw"));
        ends("raw", State.DONE, 1, "no end");
    }

    @Test void that_writes_30_MB_keeps_the_first_and_the_last_five_in_its_log() throws Exception {
        byte[] log = log("torrent");
        int half = 5 << 20;
        String line = "\n[slothq: " + " ".repeat(11) + "20971520 bytes cut here]\n";
        assertEquals(2 * half + line.length(), log.length);
        byte[] all = all30();
        assertTrue(Arrays.equals(log, 0, half, all, 0, half), "head");
        assertEquals(line, new String(log, half, line.length(), StandardCharsets.US_ASCII));
        assertTrue(Arrays.equals(log, half + line.length(), log.length, all, all.length - half, all.length), "tail");
    }

    private static byte[] all30() {
        byte[] all = new byte[30 << 20];
        Arrays.fill(all, (byte) '.');
        for (int i = 0; i < 30; i++) {
            System.arraycopy("MB%02d".formatted(i).getBytes(StandardCharsets.US_ASCII), 0, all, i << 20, 4);
        }
        return all;
    }

    /** Their pipes are open still: the job has ended all the same, long before its timeout. */
    @Test void that_leaves_processes_behind_in_its_group_ends_and_they_with_it() {
        ends("background", State.DONE, 1, "left");
        assertFalse(Cli.isAlive(here.pidIn("background")));
        ends("deaf", State.DONE, 1, null);
        assertFalse(Cli.isAlive(here.pidIn("deaf")), "it did not hear TERM, but KILL");
    }

    @EnabledOnOs(value = OS.LINUX, disabledReason = "what left its group can be found only through /proc")
    @Test void that_leaves_a_process_in_another_session_ends_that_too() {
        ends("session", State.DONE, 1, "left");
        assertFalse(Cli.isAlive(here.pidIn("session")));
    }

    @Test void of_a_program_that_is_not_there_fails_and_names_it() {
        JobRecord job = here.job(1);
        assertEquals("no program 'nosuchprogram' is found or may be run", job.message());
    }

    @Test void is_told_in_a_line_and_counted_in_the_summary() {
        run.exits(1).hasLine("failed", "exit 3: said").hasLine("done", "the last line").hasLine("not now", "no network");
        long failed = here.jobs().stream().filter(j -> j.state() == State.FAILED).count();
        long done = here.jobs().stream().filter(j -> j.state() == State.DONE).count();
        run.hasLine(done + " done", failed + " failed");
        assertEquals(here.jobs().size(), done + failed + here.jobs().stream().filter(j -> j.state() == State.PENDING).count());
    }
}
