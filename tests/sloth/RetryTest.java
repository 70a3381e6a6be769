package sloth;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A failed attempt")
class RetryTest extends QueueFixture {

    private static Options options(String... words) {
        Options o = Options.DEFAULT;
        for (String word : words) {
            o = o.with(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        return o;
    }

    private long waitOf(long id) {
        return row(id).notBefore() - clock.millis();
    }

    /** Claims, fails, and waits until the job is due again. */
    private long failAndWait(long id) {
        queue.fail(claim(), "boom");
        long wait = waitOf(id);
        clock.pass(ofMillis(wait));
        return wait;
    }

    @Test void waits_two_four_and_eight_seconds_by_default_and_the_fourth_is_the_last() {
        long id = queue.add(job("fetch.sh")).id();
        assertEquals(List.of(2_000L, 4_000L, 8_000L), List.of(failAndWait(id), failAndWait(id), failAndWait(id)));
        Lease last = claim();
        assertEquals(4, last.attempt());
        queue.fail(last, "boom");
        assertEquals(State.FAILED, state(id));
        assertEquals(4, row(id).attempts());
        assertEquals(clock.millis(), row(id).finished());
    }

    @Test void waits_an_hour_at_most_by_default() {
        long id = queue.add(job("fetch.sh").attempts(100)).id();
        long wait = 0;
        for (int n = 1; n <= 14; n++) {
            wait = failAndWait(id);
        }
        assertEquals(Duration.ofHours(1).toMillis(), wait);
    }

    @Test void waits_as_the_job_says() {
        long id = queue.add(job("fetch.sh").options(options("backoff=10s..25s"))).id();
        assertEquals(List.of(10_000L, 20_000L, 25_000L), List.of(failAndWait(id), failAndWait(id), failAndWait(id)));
    }

    @Test void is_out_again_on_the_millisecond_and_not_one_before() {
        queue.add(job("fetch.sh"));
        queue.fail(claim(), "boom");
        clock.pass(ofMillis(1_999));
        assertNothingToClaim("a millisecond is missing");
        clock.pass(ofMillis(1));
        assertEquals(2, claim().attempt());
    }

    @Test void lets_the_others_pass_while_it_waits() {
        queue.add(job("first.sh"));
        long other = queue.add(job("second.sh")).id();
        queue.fail(claim(), "boom");
        assertEquals(other, claim().id());
    }

    @Test void leaves_its_message_and_its_wait_in_the_ledger() {
        long id = queue.add(job("fetch.sh")).id();
        queue.fail(claim(), "no route to host", Map.of("exit", 7));
        Map<String, Object> detail = last(id).detail();
        assertEquals("no route to host", row(id).message());
        assertEquals("no route to host", detail.get("message"));
        assertEquals(7L, detail.get("exit"));
        assertEquals(2_000L, detail.get("wait_ms"));
        assertEquals("2026-03-02T08:00:02Z", detail.get("next"));
    }

    @Test void of_a_job_with_one_attempt_is_the_end() {
        long id = queue.add(job("fetch.sh").attempts(1)).id();
        queue.fail(claim(), "boom");
        assertEquals(State.FAILED, state(id));
        assertEquals(List.of("added", "claimed", "failed"), story(id));
    }

    @Test void that_gives_up_is_the_end_though_attempts_are_left() {
        long id = queue.add(job("fetch.sh")).id();
        assertTrue(queue.giveUp(claim(), "no such address", Map.of("exit", 65)));
        assertEquals(State.FAILED, state(id));
        assertEquals(1, row(id).attempts());
        assertEquals(65L, last(id).detail().get("exit"));
    }

    @Test void that_was_released_does_not_count_and_is_due_at_once() {
        long id = queue.add(job("fetch.sh")).id();
        queue.release(claim());
        assertEquals(0, row(id).attempts());
        assertNull(row(id).notBefore());
        assertEquals(1, claim().attempt());
        assertEquals(List.of("added", "claimed", "released", "claimed"), story(id));
    }

    @Test void that_was_released_again_and_again_never_uses_the_attempts_up() {
        long id = queue.add(job("fetch.sh").attempts(1)).id();
        for (int n = 0; n < 10; n++) {
            queue.release(claim());
        }
        assertTrue(queue.complete(claim(), "at last"));
        assertEquals(1, row(id).attempts());
    }

    @Test void that_says_not_now_does_not_count_and_waits_twice_as_long_each_time() {
        long id = queue.add(job("fetch.sh").attempts(1)).id();
        for (long seconds : new long[] {2, 4, 8, 16}) {
            assertTrue(queue.notNow(claim(), "no network"));
            assertEquals(0, row(id).attempts());
            assertEquals(seconds * 1000, waitOf(id));
            assertEquals("not now", last(id).detail().get("reason"));
            assertEquals("retry", last(id).event());
            clock.pass(ofSeconds(seconds));
        }
        assertEquals(1, claim().attempt());
    }

    @Test void that_says_not_now_waits_no_longer_than_the_cap_of_the_job() {
        long capped = queue.add(job("fetch.sh").options(options("backoff=1s..3s"))).id();
        queue.notNow(claim(), "no network");
        assertEquals(2_000, waitOf(capped));
        clock.pass(ofSeconds(2));
        queue.notNow(claim(), "no network");
        assertEquals(3_000, waitOf(capped));
        queue.cancel(capped);
        long shortest = queue.add(job("ping.sh").options(options("backoff=500ms..1s"))).id();
        queue.notNow(claim(), "no network");
        assertEquals(1_000, waitOf(shortest), "a cap below two seconds holds too");
    }

    @Test void ends_a_row_of_not_nows() {
        long id = queue.add(job("fetch.sh")).id();
        queue.notNow(claim(), "no network");
        clock.pass(ofSeconds(2));
        queue.notNow(claim(), "no network");
        clock.pass(ofSeconds(4));
        failAndWait(id);
        queue.notNow(claim(), "no network");
        assertEquals(2_000, waitOf(id), "the row begins anew");
        assertEquals(1, row(id).attempts(), "the failure counts, the words do not");
    }

    @Test void whose_worker_was_lost_ends_a_row_of_not_nows_too() {
        long id = queue.add(job("fetch.sh")).id();
        queue.notNow(claim(), "no network");
        clock.pass(ofSeconds(2));
        claim("lost");
        clock.pass(ofSeconds(60));
        queue.notNow(claim("next"), "no network");
        assertEquals(2_000, waitOf(id));
    }

    @Test void that_was_released_does_not_end_a_row_of_not_nows() {
        long id = queue.add(job("fetch.sh")).id();
        queue.notNow(claim(), "no network");
        clock.pass(ofSeconds(2));
        queue.release(claim());
        queue.notNow(claim(), "no network");
        assertEquals(4_000, waitOf(id), "it said nothing else in between");
    }

    @Test void keeps_only_a_line_of_its_message() {
        long id = queue.add(job("fetch.sh").attempts(9)).id();
        queue.fail(claim(), "\n  red\u001b[31malert\u0007  \nmore\n");
        assertEquals("redalert", row(id).message());
        clock.pass(ofSeconds(2));
        queue.fail(claim(), "x".repeat(2_000));
        assertEquals(JobRow.MESSAGE_CHARS, row(id).message().length());
        clock.pass(ofSeconds(4));
        queue.fail(claim(), "x".repeat(498) + "😀😀");
        assertEquals("x".repeat(498) + "…", row(id).message(), "no half of a character is left");
        clock.pass(ofSeconds(8));
        queue.fail(claim(), "lone \ud800 half");
        assertEquals("lone ? half", row(id).message());
        clock.pass(ofSeconds(16));
        queue.complete(claim(), "x".repeat(500));
        assertEquals("x".repeat(500), row(id).message(), "what fits is not cut");
    }
}
