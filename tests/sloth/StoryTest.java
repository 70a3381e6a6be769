package sloth;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The life of a job in nine sentences. The other classes go into each of them. */
@DisplayName("The story of a job")
class StoryTest extends QueueFixture {

    @Test void a_claim_leases_the_job_for_sixty_seconds_and_counts_the_attempt() {
        long id = queue.add(job("backup.sh")).id();
        Lease lease = queue.claim("w1").orElseThrow();
        assertEquals(id, lease.id());
        assertEquals(1, lease.attempt());
        assertEquals(clock.millis() + 60_000, lease.until());
        assertEquals(State.CLAIMED, state(id));
        assertEquals("w1", row(id).worker());
        assertEquals(clock.millis() + 60_000, row(id).leaseUntil());
    }

    @Test void a_heartbeat_extends_the_lease() {
        long id = queue.add(job("backup.sh")).id();
        Lease lease = claim();
        clock.pass(ofSeconds(45));
        assertTrue(queue.heartbeat(lease));
        assertEquals(clock.millis() + 60_000, row(id).leaseUntil());
        clock.pass(ofMillis(59_999));
        assertNothingToClaim("the lease was renewed");
        assertTrue(queue.complete(lease, "done in time"));
    }

    @Test void completing_records_the_message() {
        long id = queue.add(job("backup.sh")).id();
        assertTrue(queue.complete(claim(), "214 files, 1.2 GB"));
        assertEquals(State.DONE, state(id));
        assertEquals("214 files, 1.2 GB", row(id).message());
        assertEquals(clock.millis(), row(id).finished());
        assertEquals("214 files, 1.2 GB", last(id).detail().get("message"));
    }

    @Test void an_expired_lease_goes_out_again_as_the_second_attempt_and_says_reclaimed() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        Lease second = claim("w2");
        assertEquals(id, second.id());
        assertEquals(2, second.attempt());
        assertEquals(List.of("added", "claimed", "reclaimed", "claimed"), story(id));
    }

    @Test void failures_wait_two_four_and_eight_seconds_and_never_longer_than_the_cap() {
        long id = queue.add(job("fetch.sh").options(Options.DEFAULT.with("attempts", "6").with("backoff", "2s..10s"))).id();
        for (int seconds : new int[] {2, 4, 8, 10, 10}) {
            queue.fail(claim(), "no route to host");
            assertEquals(clock.millis() + seconds * 1000L, row(id).notBefore());
            clock.pass(ofSeconds(seconds));
        }
    }

    @Test void a_job_that_waits_is_not_claimed_before_its_time() {
        queue.add(job("fetch.sh"));
        queue.fail(claim(), "no route to host");
        clock.pass(ofMillis(1_999));
        assertNothingToClaim("it waits for two seconds");
        clock.pass(ofMillis(1));
        assertEquals(2, claim().attempt());
    }

    @Test void the_last_attempt_ends_in_failed_and_it_stays_so() {
        long id = queue.add(job("fetch.sh").attempts(2)).id();
        queue.fail(claim(), "first");
        clock.pass(ofSeconds(2));
        queue.fail(claim(), "second");
        assertEquals(State.FAILED, state(id));
        assertEquals("second", row(id).message());
        clock.pass(Duration.ofDays(400));
        assertNothingToClaim("a failed job is not retried by itself");
        assertEquals(State.FAILED, state(id));
    }

    @Test void the_word_of_a_stale_worker_is_refused() {
        long id = queue.add(job("backup.sh")).id();
        Lease slow = claim("slow");
        clock.pass(ofSeconds(60));
        Lease next = claim("next");
        assertFalse(queue.heartbeat(slow));
        assertFalse(queue.complete(slow, "late"));
        assertFalse(queue.fail(slow, "late"));
        assertEquals(State.CLAIMED, state(id));
        assertTrue(queue.complete(next, "in time"));
        assertEquals("in time", row(id).message());
    }

    @Test void the_history_tells_it_all() {
        long id = queue.add(job("fetch.sh").attempts(3)).id();
        queue.fail(claim("w1"), "no route to host");
        clock.pass(ofSeconds(2));
        claim("w1");
        clock.pass(ofSeconds(60));
        queue.complete(claim("w2"), "fetched");
        List<Event> history = queue.history(id);
        assertEquals(List.of("added", "claimed", "retry", "claimed", "reclaimed", "claimed", "done"), story(id));
        assertEquals(List.of(1, 1, 2, 2, 3, 3), history.stream().skip(1).map(Event::attempt).toList());
        assertEquals(List.of("w1", "w1", "w1", "w1", "w2", "w2"), history.stream().skip(1).map(Event::worker).toList());
        assertEquals(TestClock.START + 62_000, last(id).at());
        assertEquals("no route to host", history.get(2).detail().get("message"));
    }
}
