package sloth;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A lease")
class LeaseTest extends QueueFixture {

    @Test void of_sixty_seconds_still_holds_after_59_999_milliseconds() {
        queue.add(job("backup.sh"));
        claim("slow");
        clock.pass(ofMillis(59_999));
        assertNothingToClaim("the lease is not over");
    }

    @Test void that_ran_out_goes_to_the_next_worker() {
        queue.add(job("backup.sh"));
        Lease slow = claim("slow");
        clock.pass(ofSeconds(60));
        Lease next = claim("next");
        assertEquals(2, next.attempt());
        assertFalse(queue.complete(slow, "late"), "the slow worker's word no longer counts");
    }

    @Test void that_ran_out_goes_out_again_to_a_worker_of_the_same_name() {
        queue.add(job("backup.sh"));
        claim("me");
        clock.pass(ofSeconds(60));
        assertEquals(2, claim("me").attempt(), "a script that is started again has its old name");
    }

    @Test void that_ran_out_may_still_be_renewed_while_nobody_has_taken_the_job() {
        queue.add(job("backup.sh"));
        Lease lease = claim();
        clock.sleep(Duration.ofHours(8));
        assertTrue(queue.heartbeat(lease));
        assertNothingToClaim("the worker came first");
        assertTrue(queue.complete(lease, "slept over it"));
    }

    @Test void is_as_long_as_the_job_asks_for() {
        queue.add(job("backup.sh").options(Options.DEFAULT.with("lease", "5s")));
        Lease lease = claim("slow");
        assertEquals(clock.millis() + 5_000, lease.until());
        clock.pass(ofMillis(4_999));
        assertNothingToClaim("five seconds are not over");
        queue.heartbeat(lease);
        assertEquals(clock.millis() + 5_000, row(lease.id()).leaseUntil());
        clock.pass(ofMillis(5_000));
        assertEquals(2, claim("next").attempt());
    }

    @Test void starts_at_the_claim_however_old_the_job_is() {
        queue.add(job("backup.sh"));
        clock.pass(Duration.ofDays(30));
        Lease lease = claim();
        assertEquals(clock.millis() + 60_000, lease.until());
        assertNothingToClaim("its claim is new");
    }

    @Test void with_heartbeats_outlives_its_length_three_times_with_one_claim() {
        long id = queue.add(job("backup.sh")).id();
        Lease lease = claim();
        for (int beat = 0; beat < 9; beat++) {
            clock.pass(ofSeconds(20));
            assertTrue(queue.heartbeat(lease));
            assertNothingToClaim("the work is going on");
        }
        assertTrue(queue.complete(lease, "after three minutes"));
        assertEquals(List.of("added", "claimed", "done"), story(id));
    }

    @Test void has_a_token_of_its_own_each_time() {
        queue.add(job("backup.sh"));
        Lease first = claim();
        queue.release(first);
        Lease second = claim();
        assertNotEquals(first.token(), second.token());
        assertEquals(row(second.id()).token(), second.token());
    }

    @Test void is_told_held_only_while_it_is() {
        queue.add(job("backup.sh"));
        Lease first = claim("w1");
        assertTrue(queue.isHeld(first));
        clock.pass(ofSeconds(60));
        assertTrue(queue.isHeld(first), "nobody has taken it yet");
        Lease second = claim("w2");
        assertFalse(queue.isHeld(first));
        assertTrue(queue.isHeld(second));
        queue.complete(second, null);
        assertFalse(queue.isHeld(second));
    }

    @Test void survives_a_restart_of_the_queue() {
        queue.add(job("backup.sh"));
        Lease lease = claim();
        reopen();
        assertNothingToClaim("the lease stands in the file");
        assertTrue(queue.heartbeat(lease));
        assertTrue(queue.complete(lease, "done"));
    }

    @Test void knows_which_claim_and_which_attempt_it_is() {
        queue.add(job("backup.sh"));
        queue.release(claim());
        Lease again = claim();
        assertEquals(1, again.attempt(), "a released attempt does not count");
        assertEquals(2, again.claim(), "but its log has a name of its own");
    }

    @Test void is_on_a_claimed_job_or_it_is_a_bug() {
        JobRecord pending = queue.add(job("backup.sh"));
        assertThrows(IllegalArgumentException.class, () -> new Lease(pending, "w", "t", 0));
    }

    @Test void on_an_empty_queue_is_not_given() {
        assertTrue(queue.claim("worker").isEmpty());
    }
}
