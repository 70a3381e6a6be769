package sloth;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The ledger")
class HistoryTest extends QueueFixture {

    private Ledger.Standing told(long id) {
        return Ledger.replay(queue.ledger()).get(id);
    }

    private void assertReplayed(long id) {
        JobRecord row = row(id);
        assertEquals(new Ledger.Standing(row.state(), row.attempts(), row.message()), told(id));
    }

    @Test void replayed_gives_state_attempts_and_outcome_again_after_each_move() {
        long id = queue.add(job("a.sh").attempts(3)).id();
        assertReplayed(id);
        Lease lease = claim("w1");
        assertReplayed(id);
        queue.fail(lease, "first");
        assertReplayed(id);
        clock.pass(ofSeconds(2));
        queue.notNow(claim("w1"), "no network");
        assertReplayed(id);
        clock.pass(ofSeconds(2));
        queue.release(claim("w1"));
        assertReplayed(id);
        claim("w1");
        clock.pass(ofSeconds(60));
        reclaim("w2");
        assertReplayed(id);
        queue.fail(claim("w2"), "third");
        assertReplayed(id);
        assertEquals(new Ledger.Standing(State.FAILED, 3, "third"), told(id));
        queue.retry(id);
        assertReplayed(id);
        queue.cancel(id);
        assertReplayed(id);
        queue.retry(id);
        queue.complete(claim("w2"), "well");
        assertReplayed(id);
    }

    @Test void replayed_tells_that_the_last_attempt_left_no_message() {
        long id = queue.add(job("a.sh")).id();
        queue.fail(claim(), "boom");
        clock.pass(ofSeconds(2));
        queue.complete(claim(), null);
        assertNull(row(id).message());
        assertReplayed(id);
    }

    @Test void replayed_tells_of_a_job_that_was_stranded() {
        long id = queue.add(job("a.sh").attempts(1)).id();
        claim("w1");
        clock.pass(ofSeconds(60));
        reclaim("w2");
        assertReplayed(id);
    }

    @Test void has_an_event_for_each_move_and_none_for_a_look() {
        long id = queue.add(job("a.sh")).id();
        Lease lease = claim();
        int before = queue.ledger().size();
        queue.heartbeat(lease);
        queue.progress(lease, new JobRecord.Progress(1, 2L, null));
        queue.list();
        queue.counts();
        queue.overview().stranded();
        queue.overview().nextDue(List.of());
        queue.isHeld(lease);
        assertEquals(before, queue.ledger().size());
        assertEquals(List.of("added", "claimed"), story(id));
    }

    @Test void is_in_the_order_of_its_numbers_not_of_its_times() {
        long id = queue.add(job("a.sh")).id();
        clock.step(Duration.ofHours(-2));
        queue.complete(claim(), null);
        List<Event> all = queue.ledger();
        assertEquals(List.of("added", "clock-stepped", "claimed", "done"), all.stream().map(Event::event).toList());
        assertTrue(all.get(0).at() > all.get(3).at());
        assertEquals(LongStream.rangeClosed(1, 4).boxed().toList(), all.stream().map(Event::seq).toList());
        assertEquals(State.DONE, told(id).state());
    }

    @Test void says_when_and_by_whom() {
        long id = queue.add(job("a.sh")).id();
        clock.pass(ofMillis(1_234));
        claim("w7");
        Event claimed = last(id);
        assertEquals(TestClock.START + 1_234, claimed.at());
        assertEquals("w7", claimed.worker());
        assertEquals(1, claimed.attempt());
        assertEquals(Map.of("claim", 1L), claimed.detail());
        Event added = queue.history(id).get(0);
        assertNull(added.attempt());
        assertNull(added.worker());
    }

    @Test void notes_a_sleep_with_its_length_and_kind() {
        long id = queue.add(job("a.sh")).id();
        Lease lease = claim();
        queue.slept(lease, Duration.ofHours(8), "sleep");
        assertEquals("slept", last(id).event());
        assertEquals(Map.of("ms", 28_800_000L, "kind", "sleep"), last(id).detail());
        assertReplayed(id);
    }

    @Test void notes_each_step_by_name() {
        long id = queue.add(job("a.java")).id();
        Lease lease = claim();
        assertTrue(queue.keepStep(lease, "upload", "{\"bytes\":12}"));
        assertEquals("step", last(id).event());
        assertEquals(Map.of("name", "upload"), last(id).detail());
        assertEquals(Map.of("upload", "{\"bytes\":12}"), queue.steps(id));
        assertReplayed(id);
    }

    @Test void keeps_the_steps_for_the_attempts_that_follow() {
        long id = queue.add(job("a.java")).id();
        queue.keepStep(claim("w1"), "upload", "1");
        clock.pass(ofSeconds(60));
        Lease second = claim("w2");
        queue.keepStep(second, "index", "2");
        assertEquals(List.of("index", "upload"), List.copyOf(queue.steps(id).keySet()));
        queue.complete(second, null);
        queue.prune(Duration.ZERO);
        assertEquals(Map.of(), queue.steps(id), "they go with the job");
    }

    @Test void tells_nothing_of_moves_that_were_undone_together() {
        long id = queue.add(job("a.sh")).id();
        Lease lease = claim();
        assertThrows(IllegalStateException.class, () -> queue.together(() -> {
            queue.complete(lease, "done");
            queue.add(job("b.sh"));
            throw new IllegalStateException("in the middle");
        }));
        assertEquals(State.CLAIMED, state(id));
        assertEquals(List.of("added", "claimed"), queue.ledger().stream().map(Event::event).toList());
        assertTrue(queue.complete(lease, "done"), "and the queue goes on");
    }

    @Test void has_moves_made_together_one_after_another() {
        long first = queue.add(job("a.sh")).id();
        long second = queue.add(job("b.sh")).id();
        Lease lease = claim();
        Lease next = queue.together(() -> {
            queue.complete(lease, "done");
            return claim();
        });
        assertEquals(second, next.id());
        assertEquals(State.DONE, state(first));
        assertEquals(List.of("added", "added", "claimed", "done", "claimed"), queue.ledger().stream().map(Event::event).toList());
    }

    @Test void that_tells_another_story_than_the_row_is_found() throws Exception {
        long id = queue.add(job("a.sh")).id();
        queue.complete(claim(), null);
        try (var c = Db.connect(folder.database()); var s = c.createStatement()) {
            s.executeUpdate("UPDATE job SET state = 'failed' WHERE id = " + id);
        }
        assertEquals(List.of(id), queue.overview().contradictions());
        try (var c = Db.connect(folder.database()); var s = c.createStatement()) {
            s.executeUpdate("UPDATE job SET state = 'done' WHERE id = " + id);
        }
        assertEquals(List.of(), queue.overview().contradictions());
    }

    @Test void outlives_everything_but_a_prune() {
        long kept = queue.add(job("a.sh")).id();
        queue.complete(claim(), "well");
        reopen();
        assertEquals(List.of("added", "claimed", "done"), story(kept));
    }
}
