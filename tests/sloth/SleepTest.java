package sloth;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static java.time.Duration.ofHours;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What a laptop does when its lid is closed over a running job. */
@DisplayName("A machine that sleeps")
@Execution(ExecutionMode.CONCURRENT)
class SleepTest {

    private static final Duration NIGHT = ofHours(8);
    /** For a machine under load: what is late by so little is no gap, and does not count as sleep. */
    private static final long SLACK_MILLIS = 3_000;

    @RegisterExtension final Cli cli = new Cli();

    @Test void for_eight_hours_finishes_the_attempt_it_was_at() throws Exception {
        Witness witness = Witness.in(cli.folder()).job("long.sh", "lease=1s timeout=30s stall=20s");
        cli.slothq("add", "long", "0", "40").exits(0);
        try (Rig rig = Rig.of(cli)) {
            List<Cli.Live> workers = List.of(rig.start("run", "--watch"), rig.start("run", "--watch"));
            witness.until("beat", 1, 10);
            rig.sleep(NIGHT);
            cli.untilJob(1, State.DONE);
            assertEquals("added claimed slept done", cli.events(1));
            assertSleptThe(NIGHT, 1);
            List<String> said = workers.stream().map(Cli.Live::err).filter(e -> e.contains("slept")).toList();
            assertEquals(1, said.size(), "only the worker that had the job has something to say: " + said);
            assertTrue(said.get(0).matches("(?s).*slept (8h|7h59m), went on with job 1\n.*"), said.get(0));
        }
        witness.assertNeverTwoAlive();
        assertEquals(40, witness.count("beat", 1));
    }

    @Test void counts_timeouts_and_stalls_in_awake_time() throws Exception {
        Witness witness = Witness.in(cli.folder())
            .job("timeout.sh", "lease=2s timeout=4s attempts=1").job("stall.sh", "lease=2s stall=4s attempts=1");
        cli.slothq("add", "timeout", "0", "600").exits(0);
        cli.slothq("add", "stall", "0", "600").exits(0);
        try (Rig rig = Rig.of(cli)) {
            rig.start("run", "--watch", "--parallel", "2");
            witness.until("beat", 1, 10).until("beat", 2, 10);
            rig.sleep(NIGHT);
            // Ten more in the four seconds: each takes a tenth of one, and more on a busy machine.
            witness.until("beat", 1, 20).until("beat", 2, 20);
            for (long id : List.of(1L, 2L)) {
                cli.untilJob(id, State.FAILED);
                assertSleptThe(NIGHT, id);
            }
            assertEquals("timeout: not done after 4s", cli.job(1).message());
            assertEquals("stalled: no output or progress for 4s", cli.job(2).message());
        }
        witness.assertNobodyLeft();
    }

    @Test void again_and_again_sleeps_each_time() throws Exception {
        Witness witness = Witness.in(cli.folder()).job("long.sh", "lease=1s");
        cli.slothq("add", "long", "0", "40").exits(0);
        try (Rig rig = Rig.of(cli)) {
            rig.start("run", "--watch");
            rig.start("run", "--watch");
            for (int nap = 1; nap <= 3; nap++) {
                witness.until("beat", 1, 8 * nap);
                rig.sleep(Duration.ofMinutes(nap));
            }
            cli.untilJob(1, State.DONE);
            assertEquals("added claimed slept slept slept done", cli.events(1));
        }
        witness.assertNeverTwoAlive();
    }

    @Test void finds_a_retry_that_fell_due_meanwhile() throws Exception {
        cli.sh("twice", "#JOB backoff=5m..5m", "test $SLOTHQ_ATTEMPT = 2");
        try (Rig rig = Rig.of(cli)) {
            rig.start("run", "--watch");
            Cli.until("its first attempt fails",
                () -> cli.has(".slothq/queue.db") && !cli.jobs().isEmpty() && cli.events(1).endsWith("retry"));
            rig.sleep(NIGHT);
            cli.untilJob(1, State.DONE);
            assertEquals("added claimed retry claimed done", cli.events(1));
        }
    }

    private void assertSleptThe(Duration length, long id) {
        Event slept = cli.history(id).stream().filter(e -> e.event().equals("slept")).findFirst().orElseThrow();
        long ms = ((Number) slept.detail().get("ms")).longValue();
        assertEquals(length.toMillis(), ms, SLACK_MILLIS);
        assertEquals("sleep", slept.detail().get("kind"));
    }
}
