package sloth;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The wall clock is set under the feet of a worker: by hand, by a time server, by a machine whose battery is empty. */
@DisplayName("A clock that is set")
@Execution(ExecutionMode.CONCURRENT)
class ClockStepTest {

    private static final Duration TO_2100 = ofDays(27_000);

    @RegisterExtension final Cli cli = new Cli();

    @ParameterizedTest(name = "by {0}")
    @ValueSource(strings = {"PT-5S", "PT-2H", "P-365D"})
    void back_while_a_job_waits_for_its_retry_delays_it_by_its_own_wait_at_most(Duration back) throws Exception {
        cli.sh("twice", "#JOB backoff=4s..4s", "test $SLOTHQ_ATTEMPT = 2");
        try (Rig rig = Rig.of(cli)) {
            Cli.Live worker = rig.start("run", "--watch");
            untilEvents(1, "added claimed retry");
            rig.step(back);
            long start = System.nanoTime();
            cli.untilJob(1, State.DONE);
            // Its own wait of 4 s from the moment the step is seen, and what a busy machine takes.
            assertTrue(System.nanoTime() - start < ofSeconds(9).toNanos(), "it waited for the old time to come again");
            assertEquals("added claimed retry claimed done", cli.events(1));
            assertStepped(back);
            assertTrue(worker.err().contains("the clock was set back by"), worker.err());
        }
    }

    @Test void to_2100_for_a_moment_leaves_nothing_that_waits_for_2100() throws Exception {
        Witness witness = Witness.in(cli.folder()).job("long.sh", "lease=1s");
        cli.slothq("add", "long", "0", "50").exits(0);
        try (Rig rig = Rig.of(cli)) {
            Cli.Live worker = rig.start("run", "--watch");
            witness.until("beat", 1, 5);
            rig.start("run", "--watch");
            rig.step(TO_2100);
            worker.saysSoon("the clock was set forward by");
            rig.start("add", "--in", "3s", "witness", "0", "1").ends().exits(0);
            add(rig, "witness", "0", "1");
            rig.step(TO_2100.negated());
            add(rig, "witness", "0", "1");
            for (long id : List.of(1L, 2L, 3L, 4L)) {
                cli.untilJob(id, State.DONE);
            }
            assertEquals("added claimed done", cli.events(1), "the job that ran through it all");
            assertTrue(claimOf(3) < claimOf(4), "first in, first out");
            assertTrue(steps().stream().anyMatch(ms -> ms > 0) && steps().stream().anyMatch(ms -> ms < 0), "forth and back: " + steps());
        }
        witness.assertNeverTwoAlive();
    }

    @Test void to_2100_for_a_moment_does_not_let_a_lease_run_until_then() throws Exception {
        cli.sh("left", "#JOB lease=2s", "true");
        try (Rig rig = Rig.of(cli)) {
            rig.step(TO_2100);
            // Through the bare library: there is no lock that says whether the claimer lives, only the lease.
            add(rig, "left");
            try (SlothQueue queue = SlothQueue.open(new QueueFolder(cli.folder()), rig.clock())) {
                queue.claim("somebody").orElseThrow();
            }
            rig.step(TO_2100.negated());
            rig.start("run", "--watch");
            cli.untilJob(1, State.DONE);
            assertEquals("added claimed reclaimed claimed done", cli.events(1));
        }
    }

    @Test void forth_and_back_under_a_running_job_does_not_double_it() throws Exception {
        Witness witness = Witness.in(cli.folder()).job("long.sh", "lease=1s timeout=30s stall=30s");
        cli.slothq("add", "long", "0", "50").exits(0);
        try (Rig rig = Rig.of(cli)) {
            rig.start("run", "--watch");
            witness.until("beat", 1, 1);
            rig.start("run", "--watch");
            int beats = 5;
            for (Duration by : List.of(ofHours(3), ofHours(-6), ofDays(400), ofDays(-800))) {
                witness.until("beat", 1, beats += 8);
                rig.step(by);
            }
            cli.untilJob(1, State.DONE);
            assertEquals("added claimed done", cli.events(1));
        }
        witness.assertNeverTwoAlive();
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"summer begins, 2027-03-28T00:59:57Z", "winter begins, 2026-10-25T00:59:57Z"})
    void to_summer_or_winter_time_is_no_event(String what, Instant justBefore) throws Exception {
        Witness witness = Witness.in(cli.folder());
        cli.sh("twice", "#JOB backoff=3s..3s", "test $SLOTHQ_ATTEMPT = 2");
        try (Rig rig = Rig.of(cli)) {
            rig.stepTo(justBefore);
            Map<String, String> berlin = Map.of("TZ", "Europe/Berlin");
            add(rig, "witness", "0", "30");
            Cli.Live worker = rig.start(berlin, "run");
            assertEquals(0, worker.ends().code());
            assertTrue(rig.clock().millis() > justBefore.plusSeconds(3).toEpochMilli(), "the change came while it ran");
            assertEquals("added claimed done", cli.events(1));
            assertEquals("added claimed retry claimed done", cli.events(2));
            assertEquals(List.of(), steps());
            assertTrue(!worker.err().contains("clock") && !worker.err().contains("slept"), worker.err());
        }
        witness.assertNeverTwoAlive();
    }

    /** By the rig's clock. */
    private void add(Rig rig, String job, String... args) {
        try (SlothQueue queue = SlothQueue.open(new QueueFolder(cli.folder()), rig.clock())) {
            queue.add(job, args);
        }
    }

    // ---- what stands in the ledger

    private void untilEvents(long id, String events) {
        Cli.until("job " + id + ": " + events, () -> cli.has(".slothq/queue.db") && !cli.jobs().isEmpty() && cli.events(id).equals(events));
    }

    private long claimOf(long id) {
        return cli.history(id).stream().filter(e -> e.event().equals("claimed")).findFirst().orElseThrow().seq();
    }

    private void assertStepped(Duration by) {
        assertEquals(1, steps().size(), "one step: " + steps());
        assertEquals(by.toMillis(), steps().get(0), 4_000);
    }

    private List<Long> steps() {
        try (SlothQueue queue = SlothQueue.look(new QueueFolder(cli.folder()))) {
            return queue.ledger().stream().filter(e -> e.event().equals("clock-stepped"))
                .map(e -> ((Number) e.detail().get("ms")).longValue()).toList();
        }
    }
}
