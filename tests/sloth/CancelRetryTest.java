package sloth;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("By hand, a job")
class CancelRetryTest extends QueueFixture {

    /** A job that stands there. */
    private long in(State state) {
        long id = queue.add(job("a.sh").attempts(1)).id();
        switch (state) {
            case PENDING -> { }
            case CLAIMED -> claim();
            case DONE -> queue.complete(claim(), "done");
            case FAILED -> queue.fail(claim(), "boom");
            case CANCELLED -> queue.cancel(id);
        }
        assertEquals(state, state(id));
        return id;
    }

    private String refusal(Runnable asked) {
        SlothException e = assertThrows(SlothException.class, asked::run);
        assertEquals(SlothException.REFUSED, e.exitCode());
        return e.getMessage();
    }

    @ParameterizedTest(name = "that is {0} is cancelled") @EnumSource(names = {"PENDING", "CLAIMED"})
    void is_cancelled_for_good(State state) {
        long id = in(state);
        JobRecord cancelled = queue.cancel(id);
        assertEquals(State.CANCELLED, cancelled.state());
        assertNull(cancelled.token());
        assertEquals(clock.millis(), cancelled.finished());
        clock.pass(ofSeconds(3_600));
        assertNothingToClaim("it was cancelled");
        assertEquals(State.CANCELLED, state(id));
        assertEquals("cancelled", last(id).event());
    }

    @ParameterizedTest(name = "that is {0} cannot be cancelled") @EnumSource(names = {"DONE", "FAILED", "CANCELLED"})
    void that_has_ended_cannot_be_cancelled(State state) {
        long id = in(state);
        JobRecord before = row(id);
        assertEquals("job " + id + " is " + state + "; only a pending or claimed job can be cancelled", refusal(() -> queue.cancel(id)));
        assertEquals(before, row(id));
    }

    @ParameterizedTest(name = "that is {0} is pending again after a retry") @EnumSource(names = {"FAILED", "CANCELLED"})
    void is_retried_with_all_its_attempts(State state) {
        long id = in(state);
        int events = queue.history(id).size();
        JobRecord again = queue.retry(id);
        assertEquals(State.PENDING, again.state());
        assertEquals(0, again.attempts());
        assertNull(again.finished());
        assertNull(again.notBefore());
        assertEquals(events + 1, queue.history(id).size(), "its history stays");
        assertEquals("requeued", last(id).event());
        assertEquals(1, claim().attempt());
    }

    @ParameterizedTest(name = "that is {0} cannot be retried") @EnumSource(names = {"PENDING", "CLAIMED", "DONE"})
    void that_did_not_fail_cannot_be_retried(State state) {
        long id = in(state);
        JobRecord before = row(id);
        assertEquals("job " + id + " is " + state + "; only a failed or cancelled job can be retried", refusal(() -> queue.retry(id)));
        assertEquals(before, row(id));
    }

    @Test void that_does_not_exist_is_named() {
        assertEquals("no job 7; 'slothq list' shows the jobs there are", refusal(() -> queue.cancel(7)));
        assertEquals("no job 7; 'slothq list' shows the jobs there are", refusal(() -> queue.retry(7)));
    }

    @Test void stays_cancelled_whatever_its_worker_says_later() {
        long id = in(State.PENDING);
        Lease lease = claim();
        queue.cancel(id);
        assertFalse(queue.heartbeat(lease), "so the worker learns of it");
        assertFalse(queue.complete(lease, "done all the same"));
        assertFalse(queue.fail(lease, "boom"));
        assertEquals(State.CANCELLED, state(id));
        assertEquals(List.of("added", "claimed", "cancelled"), story(id), "and nothing more is told of it");
    }

    @Test void keeps_the_number_of_its_claims_through_a_retry_so_that_logs_are_not_written_over() {
        long id = queue.add(job("a.sh").attempts(1)).id();
        queue.fail(claim(), "boom");
        queue.retry(id);
        Lease again = claim();
        assertEquals(1, again.attempt());
        assertEquals(2, again.claim());
    }

    @Test void waits_anew_from_two_seconds_after_a_retry() {
        long id = queue.add(job("a.sh").attempts(2)).id();
        queue.fail(claim(), "boom");
        clock.pass(ofSeconds(2));
        queue.fail(claim(), "boom");
        queue.retry(id);
        queue.fail(claim(), "boom");
        assertEquals(clock.millis() + 2_000, row(id).notBefore());
    }

    @Test void that_waits_is_cancelled_and_comes_back_due_at_once() {
        long id = queue.add(job("a.sh").in(ofSeconds(500))).id();
        queue.cancel(id);
        clock.pass(ofSeconds(500));
        assertNothingToClaim("it was cancelled while it waited");
        queue.retry(id);
        assertEquals(id, claim().id());
    }

    @Test void keeps_its_steps_through_a_retry_unless_it_is_to_start_afresh() {
        long id = queue.add(job("a.java").attempts(1)).id();
        Lease lease = claim();
        queue.keepStep(lease, "upload", "\"ok\"");
        queue.fail(lease, "boom");
        queue.retry(id);
        assertEquals("\"ok\"", queue.steps(id).get("upload"));
        queue.fail(claim(), "boom");
        queue.retry(id, true);
        assertTrue(queue.steps(id).isEmpty());
        assertEquals(true, last(id).detail().get("fresh"));
    }

    @Test void loses_its_old_progress_with_a_retry() {
        long id = queue.add(job("a.sh").attempts(1)).id();
        Lease lease = claim();
        queue.progress(lease, new JobRecord.Progress(3, 10L, "thumbs"));
        assertNotNull(row(id).progress());
        queue.fail(lease, "boom");
        queue.retry(id);
        assertNull(row(id).progress());
    }

    @Test void is_retried_with_others_or_not_at_all() {
        long failed = in(State.FAILED);
        long done = in(State.DONE);
        refusal(() -> queue.retryAll(List.of(failed, done), false));
        assertEquals(State.FAILED, state(failed), "all or none");
        assertEquals(List.of("added", "claimed", "failed"), story(failed));
        queue.retryAll(List.of(failed), false);
        assertEquals(State.PENDING, state(failed));
    }

    @Test void is_retried_with_all_that_failed_and_with_nothing_else() {
        long failed = in(State.FAILED);
        long cancelled = in(State.CANCELLED);
        long done = in(State.DONE);
        List<Long> retried = new ArrayList<>();
        queue.retryFailed(false, job -> retried.add(job.id()), line -> { });
        assertEquals(List.of(failed), retried);
        assertEquals(State.CANCELLED, state(cancelled));
        assertEquals(State.DONE, state(done));
    }

    @Test void whose_key_another_job_holds_is_passed_over_when_all_are_retried() {
        long first = queue.add(job("a.sh").key("k").attempts(1)).id();
        queue.fail(claim(), "boom");
        long holder = queue.add(job("a.sh").key("k")).id();
        List<String> passedOver = new ArrayList<>();
        queue.retryFailed(false, job -> { }, passedOver::add);
        assertEquals(List.of("job " + first + " cannot be retried: job " + holder + " holds its key 'k' now"), passedOver);
        assertEquals(State.FAILED, state(first));
    }

    @Test void that_ended_is_pruned_with_its_history_when_it_is_old_enough() {
        long old = in(State.DONE);
        clock.pass(ofSeconds(10));
        long young = in(State.FAILED);
        clock.pass(ofSeconds(10));
        assertEquals(List.of(), queue.prune(ofSeconds(21)));
        assertEquals(List.of(old), queue.prune(ofSeconds(20)), "to the millisecond");
        assertTrue(queue.job(old).isEmpty());
        assertEquals(List.of(), queue.history(old));
        assertEquals(State.FAILED, state(young));
        Event pruned = queue.ledger().get(queue.ledger().size() - 1);
        assertEquals("pruned", pruned.event());
        assertNull(pruned.job());
        assertEquals(1L, pruned.detail().get("jobs"));
    }

    @ParameterizedTest(name = "that is {0} is never pruned") @EnumSource(names = {"PENDING", "CLAIMED"})
    void that_lives_is_never_pruned(State state) {
        long id = in(state);
        clock.pass(ofSeconds(1_000_000));
        assertEquals(List.of(), queue.prune(ZERO));
        assertEquals(state, state(id));
    }

    @Test void is_not_pruned_while_its_batch_is_not_through_or_its_processes_may_live() {
        queue.addAll("a.sh", List.of(job("a.sh").args("1"), job("a.sh").args("2")).iterator());
        queue.complete(claim(), null);
        assertEquals(List.of(), queue.prune(ZERO), "the other job of the batch is pending");
        Lease second = queue.claimToRun("w", List.of()).orElseThrow();
        queue.cancel(second.id());
        assertEquals(List.of(), queue.prune(ZERO), "its processes may be alive");
        queue.lost(second);
        assertEquals(2, queue.prune(ZERO).size());
    }

    @Test void is_pruned_with_its_batch_when_the_last_of_it_is_old_enough() {
        queue.addAll("a.sh", List.of(job("a.sh").args("1"), job("a.sh").args("2")).iterator());
        queue.complete(claim(), null);
        clock.pass(ofSeconds(100));
        queue.complete(claim(), null);
        clock.pass(ofMillis(9_999));
        assertEquals(List.of(), queue.prune(ofSeconds(10)), "the first is old, the second is not");
        clock.pass(ofMillis(1));
        assertEquals(2, queue.prune(ofSeconds(10)).size());
    }

    @Test void that_was_discovered_last_is_not_pruned_since_it_says_that_the_file_has_run() {
        long first = queue.add(job("a.sh").discovered("v1")).id();
        queue.complete(claim(), null);
        long second = queue.add(job("a.sh").discovered("v2")).id();
        queue.complete(claim(), null);
        assertEquals(List.of(first), queue.prune(ZERO));
        assertEquals(State.DONE, state(second));
    }

    @Test void leaves_no_number_behind_that_is_used_again() {
        long id = in(State.DONE);
        queue.prune(ZERO);
        reopen();
        assertTrue(queue.add(job("b.sh")).id() > id);
    }
}
