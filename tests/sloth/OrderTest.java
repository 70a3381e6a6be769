package sloth;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The order of the jobs")
class OrderTest extends QueueFixture {

    private List<String> drain() {
        List<String> names = new ArrayList<>();
        for (Optional<Lease> lease = queue.claim("w"); lease.isPresent(); lease = queue.claim("w")) {
            names.add(lease.get().job().job());
            queue.complete(lease.get(), null);
        }
        return names;
    }

    @Test void is_first_in_first_out() {
        List.of("c", "a", "b").forEach(name -> queue.add(job(name)));
        assertEquals(List.of("c", "a", "b"), drain());
    }

    @Test void is_by_priority_first_also_below_nothing() {
        queue.add(job("low").priority(-5));
        queue.add(job("usual"));
        queue.add(job("high").priority(7));
        queue.add(job("high too").priority(7));
        queue.add(job("lowest").priority(Integer.MIN_VALUE));
        queue.add(job("highest").priority(Integer.MAX_VALUE));
        assertEquals(List.of("highest", "high", "high too", "usual", "low", "lowest"), drain());
    }

    @Test void does_not_ask_the_clock() {
        queue.add(job("first"));
        clock.step(ofSeconds(-7_200));
        queue.add(job("second"));
        clock.step(ofSeconds(100_000));
        queue.add(job("third"));
        assertEquals(List.of("first", "second", "third"), drain());
    }

    @Test void leaves_out_jobs_that_wait_whatever_their_priority() {
        queue.add(job("later").priority(100).in(ofSeconds(10)));
        queue.add(job("now"));
        assertEquals(List.of("now"), drain());
        clock.pass(ofMillis(9_999));
        assertEquals(List.of(), drain());
        clock.pass(ofMillis(1));
        assertEquals(List.of("later"), drain());
    }

    @Test void puts_a_job_whose_time_has_come_where_its_number_belongs() {
        queue.add(job("waits").in(ofSeconds(10)));
        queue.add(job("younger"));
        clock.pass(ofSeconds(10));
        assertEquals(List.of("waits", "younger"), drain());
    }

    @Test void holds_a_job_back_until_the_time_that_was_named() {
        long nine = TestClock.START + 3_600_000;
        JobRecord named = queue.add(job("at nine").at(nine));
        assertEquals(nine, named.notBefore());
        clock.pass(ofMillis(3_599_999));
        assertNothingToClaim("a millisecond is missing");
        clock.pass(ofMillis(1));
        assertEquals(named.id(), claim().id());
    }

    @Test void takes_a_time_that_has_passed_as_now() {
        JobRecord past = queue.add(job("yesterday").at(TestClock.START - 86_400_000));
        assertNull(past.notBefore());
        assertEquals(past.id(), claim().id());
        assertNull(queue.add(job("just now").at(clock.millis())).notBefore());
    }

    @Test void keeps_to_the_files_that_were_asked_for() {
        queue.add(job("a.sh"));
        queue.add(job("b.sh"));
        queue.add(NewJob.command("true"));
        Lease lease = queue.claimToRun("w", List.of("b.sh", "c.sh")).orElseThrow();
        assertEquals("b.sh", lease.job().job());
        assertTrue(queue.claimToRun("w", List.of("b.sh", "c.sh")).isEmpty());
    }

    @Test void says_what_is_due_and_when_the_next_one_is() {
        assertEquals(Optional.empty(), queue.overview().nextDue(List.of()));
        queue.add(job("now.sh"));
        queue.add(job("later.sh").in(ofSeconds(30)));
        queue.add(job("soon.sh").in(ofSeconds(10)));
        assertEquals(1, queue.overview().due());
        assertEquals(Optional.of(clock.millis() + 10_000), queue.overview().nextDue(List.of()));
        assertEquals(Optional.of(clock.millis() + 30_000), queue.overview().nextDue(List.of("later.sh", "now.sh")));
        assertEquals(Optional.empty(), queue.overview().nextDue(List.of("now.sh")));
        clock.pass(ofSeconds(10));
        assertEquals(2, queue.overview().due(), "by the clock, before any claim");
    }

    /** Four threads with a queue each: nothing is handed out twice, nothing is left. */
    @Test @Timeout(120) void gives_each_job_to_one_worker_though_many_claim_at_once() throws Exception {
        int jobs = 60;
        queue.addAll("a.sh", java.util.stream.IntStream.range(0, jobs).mapToObj(n -> job("a.sh").args("" + n)).iterator());
        ConcurrentLinkedQueue<Long> handedOut = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        List<Thread> workers = new ArrayList<>();
        for (int n = 0; n < 4; n++) {
            String name = "w" + n;
            Thread worker = new Thread(() -> {
                try (SlothQueue own = SlothQueue.open(folder, clock)) {
                    for (Optional<Lease> lease = own.claim(name); lease.isPresent(); lease = own.claim(name)) {
                        handedOut.add(lease.get().id());
                        assertTrue(own.complete(lease.get(), null));
                    }
                } catch (Throwable e) {
                    errors.add(e);
                }
            });
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        assertEquals(List.of(), List.copyOf(errors));
        assertEquals(jobs, handedOut.size());
        Set<Long> each = new TreeSet<>(handedOut);
        assertEquals(jobs, each.size(), "none twice");
        assertEquals(jobs, queue.counts().get(State.DONE));
    }

    @Test void passes_over_a_row_that_cannot_be_read_and_fails_it_with_a_reason() throws SQLException {
        long broken = queue.add(job("broken")).id();
        queue.add(job("sound"));
        try (var c = Db.connect(folder.database()); var s = c.createStatement()) {
            s.executeUpdate("UPDATE job SET args = '{\"not\":\"a list\"}' WHERE id = " + broken);
        }
        assertEquals("sound", claim().job().job());
        assertEquals(State.FAILED, state(broken));
        assertTrue(row(broken).message().startsWith("unreadable row: "), row(broken).message());
        assertEquals(0, row(broken).attempts());
        assertEquals("failed", last(broken).event());
        assertEquals(2, queue.list().size(), "and it can still be looked at");
    }

    @Test void goes_on_over_a_command_without_a_word() throws SQLException {
        long empty = queue.add(NewJob.command("true")).id();
        queue.add(job("next"));
        try (var c = Db.connect(folder.database()); var s = c.createStatement()) {
            s.executeUpdate("UPDATE job SET command = '[]' WHERE id = " + empty);
        }
        assertEquals(List.of("next"), drain());
        assertEquals("unreadable row: an empty command", row(empty).message());
    }

    @Test void keeps_every_argument_as_it_was_written() {
        List<String> args = List.of("", " ", "a b", "\"quoted\"", "'", "\\", "\n", "\t", "ü 漢 😀",
            "$HOME", "*", "--", "\u0001", "\u2028");
        queue.add(job("a.sh").args(args.toArray(String[]::new)));
        queue.add(NewJob.command("echo", "", "x", ""));
        assertEquals(args, claim().job().args());
        assertEquals(List.of("echo", "", "x", ""), claim().job().command());
    }

    @Test void refuses_arguments_that_no_file_can_store() {
        assertThrows(SlothException.class, () -> job("a.sh").args("a\0b"));
        assertThrows(SlothException.class, () -> job("a.sh").args("\ud83d"));
        assertThrows(SlothException.class, () -> NewJob.command("echo", "\ude00 first"));
        assertThrows(IllegalArgumentException.class, () -> NewJob.command(""));
        assertThrows(IllegalArgumentException.class, () -> NewJob.command(new String[0]));
    }

    @Test void shows_the_list_oldest_first_and_its_newest_rows_on_demand() {
        for (String name : List.of("a", "b", "c")) {
            queue.add(job(name));
        }
        queue.complete(claim(), null);
        assertEquals(List.of(1L, 2L, 3L), queue.list().stream().map(JobRecord::id).toList());
        assertEquals(List.of(2L, 3L), queue.list(new SlothQueue.Filter(null, null, null, 2)).stream().map(JobRecord::id).toList());
        assertEquals(List.of(1L), queue.list(new SlothQueue.Filter(State.DONE, null, null, null)).stream().map(JobRecord::id).toList());
        assertEquals(List.of(2L), queue.list(new SlothQueue.Filter(null, "b", null, null)).stream().map(JobRecord::id).toList());
    }
}
