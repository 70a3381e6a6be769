package sloth;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A key")
class KeyTest extends QueueFixture {

    private static final Options BY_ARGS = Options.DEFAULT.with("key", "args");

    @Test void gives_the_same_job_while_it_is_pending_or_claimed() {
        JobRecord first = queue.add(job("mail.sh").key("today"));
        assertEquals(first.id(), queue.add(job("mail.sh").key("today")).id());
        claim();
        assertEquals(first.id(), queue.add(job("other.sh").key("today")).id(), "whatever was to be added");
        assertEquals(1, queue.list().size());
        assertEquals(List.of("added", "claimed"), story(first.id()), "nothing is told of what was not done");
    }

    @Test void is_free_again_when_the_job_has_ended_in_any_way() {
        Set<Long> ids = new HashSet<>();
        ids.add(queue.add(job("mail.sh").key("today")).id());
        queue.complete(claim(), null);
        ids.add(queue.add(job("mail.sh").key("today").attempts(1)).id());
        queue.fail(claim(), "boom");
        ids.add(queue.add(job("mail.sh").key("today")).id());
        queue.list().stream().filter(j -> !j.state().ended()).forEach(j -> queue.cancel(j.id()));
        ids.add(queue.add(job("mail.sh").key("today")).id());
        assertEquals(4, ids.size());
    }

    @Test void is_held_through_failures_waits_and_reclaims() {
        long id = queue.add(job("mail.sh").key("today")).id();
        queue.fail(claim(), "boom");
        assertEquals(id, queue.add(job("mail.sh").key("today")).id());
        clock.pass(ofSeconds(2));
        claim();
        clock.pass(ofSeconds(60));
        reclaim("next");
        assertEquals(id, queue.add(job("mail.sh").key("today")).id());
    }

    @Test void bars_a_retry_while_another_job_holds_it() {
        long first = queue.add(job("mail.sh").key("today")).id();
        queue.cancel(first);
        long second = queue.add(job("mail.sh").key("today")).id();
        SlothException e = assertThrows(SlothException.class, () -> queue.retry(first));
        assertEquals("job " + first + " cannot be retried: job " + second + " holds its key 'today' now", e.getMessage());
        assertEquals(SlothException.REFUSED, e.exitCode());
        queue.complete(claim(), null);
        assertEquals(State.PENDING, queue.retry(first).state());
    }

    @Test void of_a_job_that_was_retried_is_held_again() {
        long id = queue.add(job("mail.sh").key("today")).id();
        queue.cancel(id);
        queue.retry(id);
        assertEquals(id, queue.add(job("mail.sh").key("today")).id());
    }

    @Test void of_one_name_is_not_that_of_another() {
        assertNotEquals(queue.add(job("mail.sh").key("today")).id(), queue.add(job("mail.sh").key("Today")).id());
        assertNotEquals(queue.add(job("mail.sh")).id(), queue.add(job("mail.sh")).id(), "no key is no key");
    }

    @Test void from_the_arguments_is_one_for_a_file_and_its_arguments() {
        long a = queue.add(job("thumb.sh").options(BY_ARGS).args("a.jpg")).id();
        assertEquals(a, queue.add(job("thumb.sh").options(BY_ARGS).args("a.jpg")).id());
        assertNotEquals(a, queue.add(job("thumb.sh").options(BY_ARGS).args("b.jpg")).id());
        assertNotEquals(a, queue.add(job("other.sh").options(BY_ARGS).args("a.jpg")).id());
        long two = queue.add(job("thumb.sh").options(BY_ARGS).args("x", "y")).id();
        assertNotEquals(two, queue.add(job("thumb.sh").options(BY_ARGS).args("x y")).id(), "where a word ends counts");
        assertNotEquals(queue.add(job("thumb.sh").options(BY_ARGS).args("")).id(), queue.add(job("thumb.sh").options(BY_ARGS)).id());
    }

    @Test void by_name_goes_before_the_key_from_the_arguments() {
        long a = queue.add(job("thumb.sh").options(BY_ARGS).args("a.jpg").key("k")).id();
        assertEquals(a, queue.add(job("thumb.sh").options(BY_ARGS).args("b.jpg").key("k")).id());
    }

    @Test void lets_only_new_lines_of_a_batch_in() throws IOException {
        NewJob thumb = job("thumb.sh").options(BY_ARGS);
        queue.add(thumb.args("b.jpg"));
        SlothQueue.Batch batch = queue.addEach(thumb, lines("a.jpg\r\n\nb.jpg\nc.jpg\na.jpg"));
        assertEquals(2, batch.added());
        assertEquals(2, batch.existing());
        assertEquals(List.of("b.jpg", "a.jpg", "c.jpg"), queue.list().stream().map(j -> j.args().get(0)).toList());
        assertEquals(2, queue.count(new SlothQueue.Filter(null, null, batch.batch(), null)));
    }

    @Test void or_none_a_batch_that_breaks_in_the_middle_adds_nothing() {
        NewJob thumb = job("thumb.sh");
        assertThrows(SlothException.class, () -> queue.addEach(thumb, lines("a.jpg\nb\0.jpg\nc.jpg")));
        assertEquals(List.of(), queue.list());
        assertEquals(List.of(), queue.ledger());
    }

    @Test @Timeout(60) void has_one_holder_though_many_ask_at_once() throws Exception {
        int askers = 4;
        ExecutorService threads = Executors.newFixedThreadPool(askers);
        try {
            for (int round = 0; round < 10; round++) {
                String key = "round " + round;
                List<Callable<Long>> asked = new ArrayList<>();
                for (int n = 0; n < askers; n++) {
                    asked.add(() -> {
                        try (SlothQueue own = SlothQueue.open(folder, clock)) {
                            return own.add(job("mail.sh").key(key)).id();
                        }
                    });
                }
                Set<Long> ids = new HashSet<>();
                for (Future<Long> id : threads.invokeAll(asked)) {
                    ids.add(id.get());
                }
                assertEquals(1, ids.size(), "one job for " + key);
            }
        } finally {
            threads.shutdownNow();
        }
        assertEquals(10, queue.list().size());
        assertTrue(queue.list().stream().allMatch(j -> story(j.id()).equals(List.of("added"))));
    }

    private static ByteArrayInputStream lines(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }
}
