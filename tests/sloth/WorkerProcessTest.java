package sloth;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The real program, killed, stopped and frozen in the middle of a job; then a look at the queue and at what lives. */
@DisplayName("A worker")
@EnabledOnOs(value = OS.LINUX, disabledReason = "looks at processes through /proc, and needs setsid")
@Execution(ExecutionMode.CONCURRENT)
class WorkerProcessTest {

    /** What the watcher promises is one second; the second one is for a machine under load. */
    private static final Duration A_SECOND = Duration.ofSeconds(2);
    /** Writes a pid so that a reader sees all of it, and then stays. */
    private static final String STAY = "sh -c 'echo $$ > %1$s.part; mv %1$s.part %1$s; exec sleep 300' &";

    @RegisterExtension final Cli here = new Cli();

    /** A job whose first attempt stays, with a child in its group; {@code more} comes before it stays. */
    private void staying(String options, String... more) {
        here.sh("job", "#JOB " + options, "[ $SLOTHQ_ATTEMPT = 1 ] && ! [ -e go ] || exec sh -c '. ./again'", String.join("\n", more),
            STAY.formatted("child"), "echo $$ > main.part; mv main.part main", "wait");
        here.file("again", "echo again\n");
    }

    private long main;
    private long child;

    private Cli.Live running(String... options) {
        Cli.Live run = here.start(options.length == 0 ? new String[] {"run"} : options);
        main = here.pidIn("main");
        child = here.pidIn("child");
        assertTrue(Cli.isAlive(main) && Cli.isAlive(child));
        return run;
    }

    private void assertAllGone(String when) {
        assertFalse(Cli.isAlive(main), "the job's main process lives " + when);
        assertFalse(Cli.isAlive(child), "the job's child lives " + when);
    }

    // ---- killed

    @Test void that_is_killed_loses_its_job_to_the_next_one_at_once() {
        staying("lease=10m");
        running().killed();
        assertTrue(Cli.waitFor(A_SECOND, () -> !Cli.isAlive(main) && !Cli.isAlive(child)), "its job's group ends with it");
        assertEquals(State.CLAIMED, here.job(1).state());

        Cli.Live next = here.start("run");
        assertTrue(next.endsWithin(Duration.ofSeconds(20)), "the lease of ten minutes bars nobody");
        next.ends().exits(0).hasLine("done", "1 job.sh", "again").says("(attempt 2 of 4)");
        assertEquals(2, here.job(1).attempts());
        assertEquals("added claimed reclaimed claimed done", here.events(1));
        assertEquals(List.of("worker died"), here.details(1, "reason"));
        here.slothq("doctor").exits(0);
    }

    @Test void that_is_killed_leaves_nothing_of_its_job_when_it_goes_out_again() {
        staying("lease=10m", "setsid " + STAY.formatted("escaped"));
        here.file("again", """
            case $(cut -d' ' -f3 /proc/$(cat escaped)/stat 2>/dev/null) in
              '' | Z | X) echo alone ;;
              *) echo beside the first ;;
            esac
            """);
        Cli.Live run = running();
        long escaped = here.pidIn("escaped");
        run.killed();
        here.slothq("run").exits(0).hasLine("done", "1 job.sh", "alone");
        assertFalse(Cli.isAlive(escaped));
    }

    /** A job that kills its worker comes back as often as it has attempts, not for ever. */
    @Test void that_its_job_kills_again_and_again_is_killed_as_often_as_there_are_attempts() {
        here.sh("killer", "#JOB attempts=2", "kill -s KILL $PPID", "exec sleep 300");
        here.start("run").ends().exits(137);
        here.start("run").ends().exits(137);
        here.slothq("run").exits(1).hasLine("1 failed");
        assertEquals(State.FAILED, here.job(1).state());
        assertEquals("stranded: worker died in attempt 2 of 2", here.job(1).message());
        assertEquals("added claimed reclaimed claimed failed", here.events(1));
        here.slothq("run").exits(0).prints("nothing to do");
        assertEquals(2, here.job(1).claims());
    }

    // ---- asked to stop

    @Test void that_gets_a_ctrl_c_a_TERM_or_a_closed_terminal_releases_its_job_and_ends_with_the_signals_code() {
        staying("lease=10m");
        for (Map.Entry<String, Integer> signal : List.of(Map.entry("INT", 130), Map.entry("TERM", 143), Map.entry("HUP", 129))) {
            Cli.Live run = running();
            run.signal(signal.getKey()).ends().exits(signal.getValue()).hasLine("release", "1 job.sh").hasLine("stopped");
            assertAllGone("after " + signal.getKey());
            assertEquals(State.PENDING, here.job(1).state());
            assertEquals(0, here.job(1).attempts());
            assertEquals(null, here.job(1).notBefore());
            here.file("main", "");
            here.file("child", "");
        }
        assertEquals("added claimed released claimed released claimed released", here.events(1));
        here.file("go", "");
        here.slothq("run").exits(0).hasLine("done", "1 job.sh", "again");
        assertEquals(1, here.job(1).attempts());
    }

    @Test void that_is_asked_to_stop_lets_the_job_clean_up_first() {
        staying("lease=10m", "trap 'sleep 1; echo cleaned > cleaned; exit 1' TERM");
        running().signal("TERM").ends().exits(143);
        assertEquals("cleaned\n", here.read("cleaned"));
        assertAllGone("afterwards");
        assertEquals("added claimed released", here.events(1));
    }

    @Test void that_is_asked_to_stop_while_it_compiles_stops_compiling() {
        StringBuilder big = new StringBuilder("class big {\n  public static void main(String... a) { }\n");
        for (int i = 0; i < 4000; i++) {
            big.append("  static Object m").append(i).append("(Object o) { return java.util.stream.Stream.of(o, 1, \"x\").toList(); }\n");
        }
        here.file("jobs/big.java", big + "}\n");
        Cli.Live run = here.start("run").saysSoon("building jobs/big.java");
        Cli.until("the compiler runs", () -> run.process().descendants().findAny().isPresent());
        List<Long> compiler = run.process().descendants().map(ProcessHandle::pid).toList();
        run.signal("INT").ends().exits(130).hasLine("release", "1 big.java");
        Cli.until("the compiler is gone", () -> compiler.stream().noneMatch(Cli::isAlive));
        assertEquals(State.PENDING, here.job(1).state());
        assertEquals(0, here.job(1).attempts());
        assertEquals("added claimed released", here.events(1));
    }

    @Test void that_is_asked_to_stop_while_it_waits_for_a_retry_changes_nothing() {
        here.sh("job", "#JOB backoff=1m", "exit 1");
        here.start("run").saysSoon("waiting for the next job").signal("INT").ends().exits(130)
            .hasLine("stopped").hasLine("later", "1 job.sh", "at ");
        here.start("run").saysSoon("waiting for the next job").signal("TERM").ends().exits(143);
        assertEquals("added claimed retry", here.events(1));
        assertEquals(1, here.job(1).attempts());
    }

    // ---- two at once

    @Test void does_not_wait_for_a_job_that_another_one_holds() {
        staying("lease=10m");
        Cli.Live run = running();
        here.slothq("run").exits(0).prints("nothing to do").quietly();
        assertTrue(run.process().isAlive() && Cli.isAlive(main) && Cli.isAlive(child));
        assertEquals("added claimed", here.events(1));
        run.signal("TERM").ends().exits(143);
    }

    @Test void that_froze_beyond_its_lease_loses_its_job_and_finds_out_when_it_wakes() {
        staying("lease=1s");
        Cli.Live frozen = running();
        frozen.freeze();
        // Before that a run rightly leaves it to its worker.
        Cli.until("its lease is over", () -> here.job(1).leaseUntil() < System.currentTimeMillis());
        here.slothq("run").exits(0).hasLine("done", "1 job.sh", "again");
        assertAllGone("beside the second attempt");
        frozen.signal("CONT").ends().exits(0).hasLine("lost", "1 job.sh");
        assertTrue(here.events(1).startsWith("added claimed reclaimed claimed done"), here.events(1));
        assertTrue(here.details(1, "reason").get(0).toString().startsWith("worker hung"), "" + here.details(1, "reason"));
        assertEquals(State.DONE, here.job(1).state());
        assertEquals("again", here.job(1).message());
    }

    // ---- cancel

    @Test void ends_a_job_that_is_cancelled_before_cancel_returns() {
        staying("lease=10m", "trap 'sleep 1; echo cleaned > cleaned; exit 1' TERM", "setsid " + STAY.formatted("escaped"));
        Cli.Live run = running();
        long escaped = here.pidIn("escaped");
        here.slothq("cancel", "1").exits(0).prints("1").quietly();
        assertAllGone("after cancel");
        assertFalse(Cli.isAlive(escaped), "what left the group lives after cancel");
        assertEquals("cleaned\n", here.read("cleaned"));
        run.ends().exits(0).hasLine("cancel", "1 job.sh", "cancelled by hand");
        assertEquals("added claimed cancelled", here.events(1));
        here.slothq("run").exits(0).prints("nothing to do");
    }

    @Test void that_is_dead_or_stopped_has_its_cancelled_job_ended_by_cancel() {
        staying("lease=10m", "setsid " + STAY.formatted("escaped"));
        Cli.Live dead = running();
        long escaped = here.pidIn("escaped");
        dead.killed();
        assertTrue(Cli.isAlive(escaped), "somebody has to end it");
        here.slothq("cancel", "1").exits(0);
        assertAllGone("after cancel");
        assertFalse(Cli.isAlive(escaped));
        assertEquals("added claimed cancelled", here.events(1));

        here.slothq("retry", "1").exits(0);
        List.of("main", "child", "escaped").forEach(name -> here.file(name, ""));
        Cli.Live stopped = running();
        escaped = here.pidIn("escaped");
        stopped.freeze();
        here.slothq("cancel", "1").exits(0);
        assertAllGone("after cancel");
        assertFalse(Cli.isAlive(escaped));
        stopped.signal("CONT").ends().exits(0);
        assertEquals(State.CANCELLED, here.job(1).state(), "its worker has no say any more");
    }
}
