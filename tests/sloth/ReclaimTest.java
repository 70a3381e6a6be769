package sloth;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A job whose worker was lost")
class ReclaimTest extends QueueFixture {

    @Test void is_handed_out_again_at_the_next_claim_and_counted() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        assertEquals(2, claim("w2").attempt());
        assertEquals(2, row(id).attempts());
        assertEquals(List.of("added", "claimed", "reclaimed", "claimed"), story(id));
    }

    @Test void says_why_and_from_whom_it_was_taken() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        reclaim("w2");
        assertEquals("reclaimed", last(id).event());
        assertEquals("w1", last(id).worker());
        assertEquals(1, last(id).attempt());
        assertEquals("lease over", last(id).detail().get("reason"));
        assertEquals("lease over", row(id).message());
    }

    @Test void waits_for_no_back_off() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        reclaim("w2");
        assertEquals(State.PENDING, state(id));
        assertNull(row(id).notBefore());
    }

    @Test void on_its_last_attempt_is_failed_and_stays_so() {
        long id = queue.add(job("killer.sh").attempts(2)).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        claim("w2");
        clock.pass(ofSeconds(60));
        assertNothingToClaim("both attempts are gone");
        assertEquals(State.FAILED, state(id));
        assertEquals(2, row(id).attempts());
        assertEquals("stranded: lease over in attempt 2 of 2", row(id).message());
        assertEquals(row(id).message(), last(id).detail().get("message"));
        assertNotNull(row(id).finished());
        assertEquals(List.of("added", "claimed", "reclaimed", "claimed", "failed"), story(id));
    }

    @Test void that_kills_every_worker_runs_as_often_as_it_may_and_no_more() {
        long id = queue.add(job("killer.sh").attempts(4)).id();
        int runs = 0;
        while (queue.claim("w" + runs).isPresent() && runs < 100) {
            runs++;
            clock.pass(ofSeconds(60));
        }
        assertEquals(4, runs);
        assertEquals(State.FAILED, state(id));
    }

    @Test void that_does_not_know_of_its_claim_is_taken_back_from_it_when_nobody_renews_it() {
        long known = queue.add(job("a.sh")).id();
        long orphan = queue.add(job("b.sh")).id();
        queue.enter("w1", 1);
        queue.claimToRun("w1", List.of());
        queue.claimToRun("w1", List.of());
        try (WorkerLocks.Held lock = new WorkerLocks(folder.locks()).take("w1")) {
            clock.pass(ofSeconds(60));
            assertEquals(List.of(), queue.reclaim("w1", id -> id == known), "it may be on its way to begin it");
            clock.pass(ofSeconds(60));
            assertEquals(List.of(), reclaim("w1"));
            assertEquals(List.of(orphan), queue.reclaim("w1", id -> id == known).stream().map(JobRecord::id).toList());
            assertEquals(State.CLAIMED, state(known));
        }
    }

    @Test void is_told_to_whoever_takes_back() {
        long again = queue.add(job("a.sh")).id();
        long over = queue.add(job("b.sh").attempts(1)).id();
        claim("w1");
        claim("w1");
        assertEquals(List.of(), reclaim("w2"));
        clock.pass(ofSeconds(60));
        List<JobRecord> taken = reclaim("w2");
        assertEquals(List.of(again, over), taken.stream().map(JobRecord::id).toList());
        assertEquals(List.of(State.PENDING, State.FAILED), taken.stream().map(JobRecord::state).toList());
    }

    @Test void goes_before_younger_jobs_of_its_priority() {
        long old = queue.add(job("old.sh")).id();
        claim("w1");
        queue.add(job("young.sh"));
        clock.pass(ofSeconds(60));
        assertEquals(old, claim("w2").id());
    }

    @Test void does_not_drag_along_one_whose_lease_is_fresh() {
        queue.add(job("a.sh"));
        queue.add(job("b.sh"));
        claim("w1");
        clock.pass(ofSeconds(30));
        Lease fresh = claim("w2");
        clock.pass(ofSeconds(30));
        assertEquals(2, claim("w3").attempt());
        assertTrue(queue.isHeld(fresh));
        assertNothingToClaim("the other lease has thirty seconds to go");
    }

    @Test void is_not_taken_back_once_it_was_completed_however_late() {
        long id = queue.add(job("backup.sh")).id();
        Lease slow = claim("w1");
        clock.pass(ofSeconds(3_600));
        assertTrue(queue.complete(slow, "slow, but nobody had taken over"));
        assertEquals(List.of(), reclaim("w2"));
        assertEquals(State.DONE, state(id));
    }

    @Test void shows_as_stranded_until_it_is_taken_back() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        clock.pass(ofMillis(59_999));
        assertEquals(List.of(), queue.overview().stranded());
        clock.pass(ofMillis(1));
        assertEquals(List.of(id), queue.overview().stranded().stream().map(JobRecord::id).toList());
        reclaim("w2");
        assertEquals(List.of(), queue.overview().stranded());
    }

    @Test void does_not_go_out_while_its_processes_may_live() {
        long id = queue.add(job("backup.sh")).id();
        queue.claimToRun("w1", List.of());
        clock.pass(ofSeconds(60));
        reclaim("w2");
        assertEquals(State.PENDING, state(id));
        assertNothingToClaim("a process of its first claim may be alive");
        assertTrue(queue.claimToRun("w2", List.of()).isEmpty());
        List<Roster.ProcessRecord> strays = queue.strays();
        assertEquals(1, strays.size());
        queue.gone(strays.get(0));
        assertEquals(2, claim("w2").attempt());
        assertEquals(List.of(), queue.processesOf(id));
    }

    @Test void lets_others_pass_while_its_processes_are_being_ended() {
        queue.add(job("backup.sh"));
        long other = queue.add(job("other.sh")).id();
        queue.claimToRun("w1", List.of("backup.sh"));
        clock.pass(ofSeconds(60));
        assertEquals(other, claim("w2").id());
    }

    @Test void is_left_alone_by_a_claim_that_fails_for_want_of_jobs() {
        long id = queue.add(job("backup.sh")).id();
        claim("w1");
        assertNothingToClaim("it is at work");
        assertEquals(State.CLAIMED, state(id));
        assertEquals(List.of("added", "claimed"), story(id));
    }
}
