package sloth;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Beat by beat, without its thread: the clock moves when the test says so. */
@DisplayName("The pulse")
class PulseTest extends QueueFixture {

    private final List<Running> running = new ArrayList<>();
    private final List<String> said = new ArrayList<>();
    private final List<SlothException> broken = new ArrayList<>();
    private Awake awake;
    private Pulse pulse;

    @BeforeEach void start() {
        awake = new Awake(clock);
        pulse = new Pulse(queue, awake, running, said::add, broken::add);
    }

    /** An attempt that only has output. */
    private record Silent(Output output) implements Execution {
        @Override public void begin() {
        }

        @Override public CompletableFuture<Outcome> result() {
            return new CompletableFuture<>();
        }

        @Override public ProcessTree tree() {
            return null;
        }

        @Override public boolean end() {
            return true;
        }
    }

    /** A claimed job whose process runs. */
    private Running run(String... options) throws IOException {
        Options o = Options.DEFAULT;
        for (String option : options) {
            o = o.with(option.split("=")[0], option.split("=")[1]);
        }
        queue.add(job("a.sh").options(o));
        Lease lease = claim();
        Running r = new Running(lease, awake.nanos());
        r.begin(new Silent(new Output(new OutputLog(folder.log(lease.id(), lease.claim())), null, awake::nanos)), awake.nanos());
        running.add(r);
        return r;
    }

    /** Time that is lived through, with all its beats. */
    private void live(Duration d) {
        for (long ms = d.toMillis(); ms > 0; ms -= Pulse.TICK.toMillis()) {
            clock.pass(ofMillis(Math.min(ms, Pulse.TICK.toMillis())));
            pulse.beat();
        }
    }

    private long until(Running r) {
        return row(r.lease.id()).leaseUntil();
    }

    private Running.Ask asked(Running r) {
        return r.asked.getNow(null);
    }

    private List<Event> events(String name) {
        return queue.ledger().stream().filter(e -> e.event().equals(name)).toList();
    }

    // ---- renewal

    @Test void renews_a_lease_when_a_third_of_it_is_over() throws IOException {
        Running r = run();
        long first = until(r);
        live(ofMillis(19_750));
        assertEquals(first, until(r));
        live(ofMillis(250));
        assertEquals(clock.millis() + 60_000, until(r));
    }

    @Test void renews_a_short_lease_in_time_too() throws IOException {
        Running r = run("lease=1s");
        for (int n = 0; n < 40; n++) {
            live(ofMillis(250));
            assertTrue(until(r) - clock.millis() >= 500, "half of it is always left");
        }
    }

    @Test void keeps_a_job_of_three_leases_with_one_claim() throws IOException {
        Running r = run("lease=5s");
        for (int n = 0; n < 15; n++) {
            live(ofSeconds(1));
            assertNothingToClaim("its heartbeats go on");
        }
        assertNull(asked(r));
        assertEquals(List.of("added", "claimed"), story(r.lease.id()));
    }

    @Test void renews_while_a_job_is_being_built_and_counts_no_timeout_yet() throws IOException {
        queue.add(job("a.java").options(Options.DEFAULT.with("timeout", "5s").with("stall", "5s")));
        Running building = new Running(claim(), awake.nanos());
        running.add(building);
        live(ofSeconds(90));
        assertNull(asked(building));
        assertTrue(until(building) - clock.millis() >= 40_000);
        building.begin(new Silent(new Output(new OutputLog(folder.log(1, 1)), null, awake::nanos)), awake.nanos());
        live(ofSeconds(5));
        assertNull(asked(building), "it has just begun");
        live(ofMillis(250));
        assertEquals(Running.Ask.TIMEOUT, asked(building));
    }

    @Test void goes_on_renewing_while_the_processes_are_being_ended() throws IOException {
        Running r = run("timeout=5s", "lease=5s");
        live(ofMillis(5_250));
        assertEquals(Running.Ask.TIMEOUT, asked(r));
        live(ofSeconds(20));
        assertTrue(until(r) > clock.millis(), "nobody else may start it yet");
    }

    // ---- gaps

    @Test void after_a_sleep_renews_and_notes_it_on_the_running_job() throws IOException {
        Running r = run();
        live(ofSeconds(1));
        clock.sleep(ofHours(8));
        live(ofMillis(250));
        assertEquals(clock.millis() + 60_000, until(r));
        assertEquals(1, events("slept").size());
        Event slept = last(r.lease.id());
        assertEquals("slept", slept.event());
        assertEquals(28_800_000L, slept.detail().get("ms"));
        assertEquals("sleep", slept.detail().get("kind"));
        assertEquals(List.of("slept 8h, went on with job 1"), said);
        assertNull(asked(r));
    }

    @Test void after_a_sleep_notes_it_on_each_running_job() throws IOException {
        Running a = run();
        Running b = run();
        clock.sleep(ofHours(1));
        live(ofMillis(250));
        assertEquals("slept", last(a.lease.id()).event());
        assertEquals("slept", last(b.lease.id()).event());
        assertTrue(until(a) > clock.millis() && until(b) > clock.millis());
    }

    @Test void after_a_pause_notes_that_it_was_one() throws IOException {
        Running r = run();
        clock.pass(ofSeconds(40));
        pulse.beat();
        assertEquals("slept", last(r.lease.id()).event());
        assertEquals("pause", last(r.lease.id()).detail().get("kind"));
        assertEquals(40_000L, last(r.lease.id()).detail().get("ms"));
        assertEquals(clock.millis() + 60_000, until(r));
    }

    @Test void passes_over_a_short_delay() throws IOException {
        Running r = run();
        clock.pass(ofMillis(2_999));
        pulse.beat();
        assertEquals(List.of("added", "claimed"), story(r.lease.id()));
        assertEquals(List.of(), said);
    }

    @Test void after_a_step_forward_renews_and_notes_it_once() throws IOException {
        Running r = run();
        clock.step(ofHours(2));
        live(ofMillis(250));
        assertEquals(clock.millis() + 60_000, until(r));
        live(ofSeconds(2));
        assertEquals(1, events("clock-stepped").size());
        assertEquals(7_200_000L, events("clock-stepped").get(0).detail().get("ms"));
        assertEquals(List.of("the clock was set forward by 2h"), said);
        assertEquals(List.of(), events("slept"));
    }

    @Test void after_a_step_back_renews_and_notes_it_once() throws IOException {
        Running r = run();
        clock.step(ofHours(-2));
        live(ofMillis(250));
        assertEquals(clock.millis() + 60_000, until(r));
        live(ofSeconds(2));
        assertEquals(1, events("clock-stepped").size());
        assertEquals(List.of("the clock was set back by 2h"), said);
        assertNull(asked(r));
    }

    @Test void after_a_sleep_in_which_another_took_the_job_says_lost() throws IOException {
        Running r = run();
        clock.sleep(ofHours(8));
        claim("other");
        live(ofMillis(250));
        assertEquals(Running.Ask.LOST, asked(r));
        assertEquals(List.of(), events("slept"), "it is not our job any more");
    }

    // ---- asking

    @Test void asks_a_cancelled_job_to_end_at_the_next_beat() throws IOException {
        Running r = run();
        queue.cancel(r.lease.id());
        live(ofMillis(250));
        assertEquals(Running.Ask.CANCELLED, asked(r));
    }

    @Test void asks_a_job_to_end_that_was_cancelled_and_is_gone() throws IOException {
        Running r = run();
        queue.cancel(r.lease.id());
        queue.prune(Duration.ZERO);
        live(ofMillis(250));
        assertEquals(Running.Ask.CANCELLED, asked(r));
    }

    @Test void asks_a_job_to_end_that_another_has() throws IOException {
        Running r = run();
        queue.release(r.lease);
        claim("other");
        live(ofMillis(250));
        assertEquals(Running.Ask.LOST, asked(r));
    }

    @Test void ends_a_job_that_takes_longer_than_its_timeout() throws IOException {
        Running r = run("timeout=10s");
        live(ofSeconds(10));
        assertNull(asked(r), "ten seconds are allowed");
        live(ofMillis(250));
        assertEquals(Running.Ask.TIMEOUT, asked(r));
    }

    @Test void counts_a_timeout_in_awake_time() throws IOException {
        Running r = run("timeout=10s");
        live(ofSeconds(5));
        clock.sleep(ofHours(8));
        clock.pass(ofSeconds(30));
        pulse.beat();
        assertNull(asked(r), "it slept, and it was frozen");
        clock.step(ofHours(3));
        live(ofSeconds(5));
        assertNull(asked(r), "five seconds and five");
        live(ofMillis(250));
        assertEquals(Running.Ask.TIMEOUT, asked(r));
    }

    @Test void ends_a_job_without_output_or_progress_for_too_long() throws IOException {
        Running r = run("stall=10s");
        live(ofSeconds(10));
        assertNull(asked(r));
        live(ofMillis(250));
        assertEquals(Running.Ask.STALL, asked(r));
    }

    @Test void takes_output_and_progress_for_signs_of_life_but_not_a_sleep() throws IOException {
        Running r = run("stall=10s");
        Output output = r.execution().output();
        live(ofSeconds(9));
        output.err("still here".getBytes(), 10);
        live(ofSeconds(9));
        output.progress(new JobRecord.Progress(1, 2L, null));
        live(ofSeconds(9));
        clock.sleep(ofHours(1));
        live(ofSeconds(1));
        assertNull(asked(r));
        live(ofMillis(250));
        assertEquals(Running.Ask.STALL, asked(r));
    }

    @Test void asks_once_and_the_first_word_counts() throws IOException {
        Running r = run("timeout=5s");
        r.ask(Running.Ask.RELEASE);
        live(ofSeconds(6));
        queue.cancel(r.lease.id());
        live(ofMillis(250));
        assertEquals(Running.Ask.RELEASE, asked(r));
    }

    @Test void lets_a_job_without_limits_run_for_as_long_as_it_likes() throws IOException {
        Running r = run();
        live(Duration.ofMinutes(10));
        assertNull(asked(r));
        assertEquals(List.of(), broken);
    }

    // ---- telling

    @Test void writes_progress_down_when_it_has_changed() throws IOException {
        Running r = run();
        Output output = r.execution().output();
        byte[] line = "::progress 30/100 thumbs\n".getBytes();
        output.out(line, line.length);
        live(ofMillis(250));
        assertEquals(new JobRecord.Progress(30, 100L, "thumbs"), row(r.lease.id()).progress());
        byte[] next = "::progress 31\n".getBytes();
        output.out(next, next.length);
        live(ofMillis(250));
        assertEquals(new JobRecord.Progress(31, null, null), row(r.lease.id()).progress());
        assertFalse(queue.history(r.lease.id()).size() > 2, "without an event for each");
    }
}
