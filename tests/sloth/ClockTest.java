package sloth;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A clock that jumps")
class ClockTest extends QueueFixture {

    private List<Event> steps() {
        return queue.ledger().stream().filter(e -> e.event().equals("clock-stepped")).toList();
    }

    @Test void back_lets_a_new_job_be_claimed_at_once() {
        queue.add(job("old.sh").in(ofSeconds(5)));
        clock.step(ofHours(-2));
        long id = queue.add(job("new.sh")).id();
        assertEquals(id, claim().id());
    }

    @Test void back_lets_a_lease_that_only_heartbeats_had_renewed_last_its_own_length() {
        queue.add(job("a.sh"));
        Lease lease = claim("w1");
        clock.pass(ofHours(3));
        queue.heartbeat(lease);
        clock.step(ofHours(-2));
        assertNothingToClaim("its worker has just spoken");
        clock.pass(java.time.Duration.ofSeconds(60));
        assertEquals(2, claim("w2").attempt(), "sixty seconds later, not two hours");
    }

    @Test void back_leaves_a_due_job_due() {
        long id = queue.add(job("a.sh")).id();
        clock.step(ofDays(-400));
        assertEquals(id, claim().id());
    }

    @Test void back_lets_a_back_off_last_no_longer_than_its_own_length() {
        long id = queue.add(job("a.sh")).id();
        queue.fail(claim(), "boom");
        clock.step(ofHours(-2));
        assertNothingToClaim("it has just failed");
        assertEquals(clock.millis() + 2_000, row(id).notBefore());
        clock.pass(ofMillis(1_999));
        assertNothingToClaim("two seconds from the claim that noticed");
        clock.pass(ofMillis(1));
        assertEquals(2, claim().attempt());
    }

    @Test void back_lets_a_delay_last_no_longer_than_its_own_length() {
        long id = queue.add(job("a.sh").in(ofSeconds(600))).id();
        clock.step(ofHours(-24));
        assertNothingToClaim("ten minutes");
        assertEquals(clock.millis() + 600_000, row(id).notBefore());
    }

    @Test void back_does_not_lengthen_a_wait_that_is_nearly_over() {
        long id = queue.add(job("a.sh").in(ofSeconds(600))).id();
        clock.pass(ofSeconds(590));
        queue.add(job("b.sh").priority(-1));
        long due = row(id).notBefore();
        clock.step(ofSeconds(-100));
        claim();
        assertEquals(due, row(id).notBefore(), "110 s are less than its ten minutes");
    }

    @Test void back_lets_a_lease_last_no_longer_than_its_own_length() {
        queue.add(job("a.sh"));
        claim("gone");
        clock.step(ofHours(-2));
        assertNothingToClaim("a fresh lease from now on");
        clock.pass(ofMillis(59_999));
        assertNothingToClaim("a millisecond is missing");
        clock.pass(ofMillis(1));
        assertEquals(2, claim("next").attempt(), "not two hours later");
    }

    @Test void back_does_not_move_a_time_that_the_user_named() {
        long nine = TestClock.START + 3_600_000;
        long id = queue.add(job("a.sh").at(nine)).id();
        clock.step(ofHours(-2));
        assertNothingToClaim("it is six o'clock again");
        assertEquals(nine, row(id).notBefore());
        clock.pass(ofHours(3).minusMillis(1));
        assertNothingToClaim("it is not nine yet");
        clock.pass(ofMillis(1));
        assertEquals(id, claim().id());
    }

    @Test void back_does_not_take_a_job_from_a_worker_that_renews() {
        long id = queue.add(job("a.sh")).id();
        Lease lease = claim();
        clock.step(ofHours(-2));
        assertTrue(queue.heartbeat(lease));
        clock.pass(ofSeconds(59));
        assertNothingToClaim("the lease is fresh");
        assertTrue(queue.complete(lease, null));
        assertEquals(1, row(id).attempts());
    }

    @Test void back_is_noted_once_with_its_length() {
        queue.add(job("a.sh"));
        clock.step(ofSeconds(-7_200));
        queue.complete(claim(), null);
        queue.add(job("b.sh"));
        assertEquals(1, steps().size());
        assertEquals(-7_200_000L, steps().get(0).detail().get("ms"));
        assertEquals(TestClock.START - 7_200_000, steps().get(0).at());
    }

    @Test void back_by_a_millisecond_or_not_at_all_is_told_apart() {
        queue.add(job("a.sh"));
        queue.add(job("b.sh"));
        assertEquals(0, steps().size(), "the same millisecond is no step");
        clock.step(ofMillis(-1));
        queue.add(job("c.sh"));
        assertEquals(1, steps().size());
    }

    @Test void back_and_back_again_is_noted_each_time() {
        queue.add(job("a.sh"));
        clock.step(ofHours(-1));
        queue.add(job("b.sh"));
        clock.step(ofHours(-1));
        queue.add(job("c.sh"));
        assertEquals(2, steps().size());
    }

    @Test void forward_by_years_and_back_again_poisons_nothing() {
        queue.add(job("a.sh"));
        clock.step(ofDays(20_000));
        long id = queue.add(job("b.sh").in(ofSeconds(60))).id();
        queue.fail(claim(), "boom");
        clock.step(ofDays(-20_000));
        assertNothingToClaim("both wait from now on");
        clock.pass(ofSeconds(2));
        assertEquals("a.sh", claim().job().job());
        clock.pass(ofSeconds(58));
        assertEquals(id, claim("other").id());
        queue.add(job("c.sh"));
        assertEquals("c.sh", claim().job().job());
        assertEquals(1, steps().size(), "the wrong date is gone for good");
    }

    @Test void forward_makes_waiting_jobs_due_once() {
        queue.add(job("a.sh").in(ofHours(1)));
        clock.step(ofDays(30));
        queue.complete(claim(), null);
        assertNothingToClaim("a month of catching up is one run");
    }

    @Test void forward_does_not_count_an_attempt_twice() {
        long id = queue.add(job("a.sh")).id();
        Lease lease = claim("w1");
        clock.step(ofDays(1));
        Lease second = claim("w2");
        assertEquals(2, second.attempt(), "without a lock to ask only the lease counts");
        assertEquals(false, queue.complete(lease, "late"));
        queue.complete(second, null);
        assertEquals(2, row(id).attempts());
    }

    @Test void is_noticed_after_a_restart_too() {
        long id = queue.add(job("a.sh").in(ofSeconds(600))).id();
        queue.close();
        clock.step(ofDays(-3));
        queue = SlothQueue.open(folder, clock);
        assertNothingToClaim("ten minutes");
        assertEquals(clock.millis() + 600_000, row(id).notBefore());
        clock.pass(Duration.ofMinutes(10));
        assertEquals(id, claim().id());
    }
}
