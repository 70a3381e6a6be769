package sloth;

import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A worker that lost its lease")
class FencingTest extends QueueFixture {

    /** Everything that a worker may say about its job. */
    interface Word {
        boolean say(SlothQueue queue, Lease lease);
    }

    static Stream<Arguments> words() {
        return Stream.of(
            word("heartbeat", SlothQueue::heartbeat),
            word("complete", (q, lease) -> q.complete(lease, "late")),
            word("fail", (q, lease) -> q.fail(lease, "late")),
            word("give up", (q, lease) -> q.giveUp(lease, "late", Map.of())),
            word("not now", (q, lease) -> q.notNow(lease, "late")),
            word("release", SlothQueue::release),
            word("progress", (q, lease) -> q.progress(lease, new JobRecord.Progress(1, 2L, "late"))),
            word("step", (q, lease) -> q.keepStep(lease, "upload", "\"late\"")),
            word("content", (q, lease) -> {
                q.runs(lease, "late");
                return false;
            }));
    }

    private static Arguments word(String name, Word word) {
        return Arguments.of(name, word);
    }

    private void refused(Word word, Lease stale) {
        JobRecord before = row(stale.id());
        assertFalse(word.say(queue, stale));
        assertEquals(before, row(stale.id()), "the row is as it was");
        assertEquals(Map.of(), queue.steps(stale.id()));
        Predicate<String> moves = event -> !event.equals("lease-lost");
        assertEquals(List.of(), queue.history(stale.id()).stream().filter(e -> "late".equals(e.detail().get("message")))
            .map(Event::event).filter(moves).toList(), "no event tells a move that was not made");
    }

    @ParameterizedTest(name = "cannot {0} while another has the job", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_while_another_has_the_job(String name, Word word) {
        queue.add(job("backup.sh"));
        Lease stale = claim("slow");
        clock.pass(ofSeconds(60));
        Lease next = claim("next");
        refused(word, stale);
        assertTrue(queue.isHeld(next));
    }

    @ParameterizedTest(name = "cannot {0} when the job waits again", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_when_the_job_waits_again(String name, Word word) {
        queue.add(job("backup.sh"));
        Lease stale = claim("slow");
        clock.pass(ofSeconds(60));
        reclaim("next");
        refused(word, stale);
        assertEquals(2, claim().attempt());
    }

    @ParameterizedTest(name = "cannot {0} when another has done the job", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_when_another_has_done_the_job(String name, Word word) {
        long id = queue.add(job("backup.sh")).id();
        Lease stale = claim("slow");
        clock.pass(ofSeconds(60));
        queue.complete(claim("next"), "in time");
        refused(word, stale);
        assertEquals("in time", row(id).message());
    }

    @ParameterizedTest(name = "cannot {0} when the job was cancelled", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_when_the_job_was_cancelled(String name, Word word) {
        long id = queue.add(job("backup.sh")).id();
        Lease stale = claim();
        queue.cancel(id);
        refused(word, stale);
        assertEquals(State.CANCELLED, state(id));
    }

    @ParameterizedTest(name = "cannot {0} twice when it has ended the job itself", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_after_its_own_last_word(String name, Word word) {
        queue.add(job("backup.sh"));
        Lease lease = claim();
        queue.complete(lease, "done");
        refused(word, lease);
    }

    @ParameterizedTest(name = "cannot {0} when the same worker has the job again", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_with_an_old_token_though_its_name_is_the_same(String name, Word word) {
        queue.add(job("backup.sh"));
        Lease old = claim("w1");
        queue.release(old);
        Lease present = claim("w1");
        refused(word, old);
        assertTrue(queue.isHeld(present));
    }

    @ParameterizedTest(name = "cannot {0} when the job was pruned", quoteTextArguments = false)
    @MethodSource("words")
    void says_nothing_that_counts_when_the_job_was_pruned(String name, Word word) {
        long id = queue.add(job("backup.sh")).id();
        Lease stale = claim();
        queue.cancel(id);
        queue.prune(ofSeconds(0));
        assertFalse(word.say(queue, stale));
        assertTrue(queue.job(id).isEmpty());
        assertEquals(List.of(), queue.history(id), "nothing is written about a job that is gone");
    }

    @Test void has_its_refused_outcome_noted() {
        long id = queue.add(job("backup.sh")).id();
        Lease slow = claim("slow");
        clock.pass(ofSeconds(60));
        claim("next");
        queue.complete(slow, "late");
        assertEquals("lease-lost", last(id).event());
        assertEquals("slow", last(id).worker());
        assertEquals(1, last(id).attempt());
        assertEquals("done", last(id).detail().get("refused"));
    }

    @Test void and_the_one_that_took_over_end_the_job_once_whichever_comes_first() {
        long first = queue.add(job("a.sh")).id();
        Lease slow = claim("slow");
        clock.pass(ofSeconds(60));
        Lease next = claim("next");
        assertTrue(queue.fail(next, "boom"));
        assertFalse(queue.complete(slow, "late"));
        assertEquals(State.PENDING, state(first));
        clock.pass(ofSeconds(4));
        assertTrue(queue.complete(claim("third"), "well"));
        assertFalse(queue.fail(slow, "later still"));
        assertFalse(queue.fail(next, "later still"));
        assertEquals(State.DONE, state(first));
        assertEquals(1, queue.history(first).stream().filter(e -> List.of("done", "failed", "cancelled").contains(e.event())).count());
    }

    @Test void cannot_end_it_with_a_forged_token() {
        queue.add(job("backup.sh"));
        Lease lease = claim();
        assertFalse(queue.complete(new Lease(lease.job(), lease.worker(), "a guess", lease.until()), "forged"));
        assertTrue(queue.isHeld(lease));
    }

    @Test void may_say_so_itself_once_its_processes_are_gone() {
        long id = queue.add(job("backup.sh")).id();
        Lease slow = queue.claimToRun("slow", List.of()).orElseThrow();
        clock.pass(ofSeconds(60));
        reclaim("next");
        assertFalse(queue.processesOf(id).isEmpty());
        queue.lost(slow);
        assertEquals(List.of(), queue.processesOf(id));
        assertEquals("lease-lost", last(id).event());
        assertEquals(2, claim("next").attempt());
    }
}
