package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("Discovery")
class DiscoveryTest extends QueueFixture {

    private static final List<String> NONE = List.of();

    @BeforeEach void makeJobs() throws IOException {
        Files.createDirectories(folder.jobs());
    }

    private void write(String name, String text) throws IOException {
        Files.writeString(folder.jobs().resolve(name), "#!/bin/sh\n" + text);
    }

    /** What the start of a run adds. */
    private List<String> start() {
        return new Discovery(queue).discover(true).added();
    }

    /** What a run that watches adds later. */
    private List<String> watch() {
        return new Discovery(queue).discover(false).added();
    }

    private Lease claimAsWorker() throws IOException {
        Lease lease = claim();
        queue.runs(lease, JobFile.named(folder, lease.job().job()).digest());
        return lease;
    }

    private void runToItsEnd() throws IOException {
        assertTrue(queue.complete(claimAsWorker(), null));
    }

    @Test void adds_a_job_for_each_file_in_the_order_of_the_names() throws IOException {
        for (String name : List.of("b.sh", "a.sh", "c.sh")) {
            write(name, "");
        }
        assertEquals(List.of("a.sh", "b.sh", "c.sh"), start());
        assertEquals("a.sh", claim().job().job());
    }

    @Test void gives_the_job_what_stands_in_the_files_head() throws IOException {
        write("a.sh", "#JOB attempts=2 priority=7\n");
        start();
        assertEquals(2, queue.list().get(0).options().attempts());
        assertEquals(7, queue.list().get(0).options().priority());
    }

    @Test void does_not_add_a_second_job_while_one_is_pending_or_claimed() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        assertEquals(NONE, start());
        write("a.sh", "echo 2\n");
        assertEquals(NONE, start(), "it will run the file as it is when it is claimed");
        claimAsWorker();
        assertEquals(NONE, start());
    }

    @Test void leaves_a_finished_file_alone() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        runToItsEnd();
        assertEquals(NONE, start());
        reopen();
        assertEquals(NONE, watch());
    }

    @Test void runs_a_file_again_that_changed_and_not_one_that_was_only_touched() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        runToItsEnd();
        write("a.sh", "echo 1\n");
        assertEquals(NONE, start(), "the same content");
        write("a.sh", "echo 2\n");
        assertEquals(List.of("a.sh"), watch());
        runToItsEnd();
        write("a.sh", "echo 1\n");
        assertEquals(List.of("a.sh"), watch(), "back to the first content is a change too");
    }

    @Test void compares_with_what_was_run_not_with_what_was_found() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        write("a.sh", "echo 2\n");
        runToItsEnd();
        assertEquals(NONE, start(), "the second content has run already");
        write("a.sh", "echo 1\n");
        assertEquals(List.of("a.sh"), start(), "the first never has");
    }

    @Test void takes_up_a_change_that_was_made_while_the_job_ran() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        Lease lease = claimAsWorker();
        write("a.sh", "echo 2\n");
        queue.complete(lease, null);
        assertEquals(List.of("a.sh"), watch());
    }

    @Test void lets_a_failed_file_wait_for_a_retry_or_an_edit() throws IOException {
        write("a.sh", "#JOB attempts=1\nexit 1\n");
        start();
        queue.fail(claimAsWorker(), "exit 1");
        assertEquals(NONE, start());
        write("a.sh", "#JOB attempts=1\nexit 0\n");
        assertEquals(List.of("a.sh"), start());
    }

    @Test void does_not_add_beside_a_failed_job_that_was_retried() throws IOException {
        write("a.sh", "#JOB attempts=1\nexit 1\n");
        start();
        queue.fail(claimAsWorker(), "exit 1");
        queue.retry(1);
        assertEquals(NONE, start());
        runToItsEnd();
        assertEquals(NONE, start());
    }

    @Test void lets_a_cancelled_file_rest_until_it_changes() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        queue.cancel(1);
        assertEquals(NONE, start());
        write("a.sh", "echo 2\n");
        assertEquals(List.of("a.sh"), start());
    }

    @Test void does_not_count_a_job_that_was_added_by_hand() throws IOException {
        write("a.sh", "echo 1\n");
        queue.add("a.sh", "x");
        assertEquals(NONE, start(), "while it is pending there is a job for the file");
        runToItsEnd();
        assertEquals(List.of("a.sh"), start(), "but it was not this file's own run");
    }

    @Test void never_adds_a_file_that_says_run_added() throws IOException {
        write("handler.sh", "#JOB run=added\n");
        assertEquals(NONE, start());
        assertEquals(NONE, watch());
        write("handler.sh", "#JOB run=added\nchanged\n");
        assertEquals(NONE, start());
    }

    @Test void adds_a_file_that_says_run_always_at_each_start_and_only_there() throws IOException {
        write("daily.sh", "#JOB run=always\n");
        assertEquals(List.of("daily.sh"), start());
        assertEquals(NONE, start(), "it is pending");
        claimAsWorker();
        assertEquals(NONE, start(), "it is at work");
        queue.complete(new Lease(row(1), "worker", row(1).token(), 0), null);
        assertEquals(NONE, watch(), "a run that goes on is no start");
        assertEquals(List.of("daily.sh"), start());
    }

    @Test void adds_a_file_that_says_run_always_again_after_it_failed() throws IOException {
        write("daily.sh", "#JOB run=always attempts=1\nexit 1\n");
        start();
        queue.fail(claimAsWorker(), "exit 1");
        assertEquals(List.of("daily.sh"), start());
    }

    @Test void remembers_a_file_though_its_old_jobs_were_pruned() throws IOException {
        write("a.sh", "echo 1\n");
        start();
        runToItsEnd();
        clock.pass(ofSeconds(1_000));
        queue.prune(ofSeconds(1));
        assertEquals(NONE, start());
    }

    @Test void refuses_a_file_with_a_wrong_option_and_takes_the_others() throws IOException {
        write("a.sh", "echo\n");
        write("bad.sh", "#JOB attempts=two\n");
        write("c.sh", "echo\n");
        Files.writeString(folder.jobs().resolve("notes.txt"), "buy milk\n");
        Discovery.Found found = new Discovery(queue).discover(true);
        assertEquals(List.of("a.sh", "c.sh"), found.added());
        assertEquals(List.of("jobs/bad.sh:2: attempts=two is not a whole number from 1 to 1000000",
            "jobs/notes.txt: cannot be run: no #! line and no run bit; 'chmod +x' it, or call it _notes.txt to keep it here"),
            found.refused());
    }

    @Test void of_a_file_that_was_asked_for_adds_it_changed_or_not() throws IOException {
        write("a.sh", "#JOB run=added\necho 1\n");
        start();
        List<JobFile> asked = List.of(JobFile.named(folder, "a.sh"));
        assertEquals(List.of("a.sh"), new Discovery(queue).require(asked).added());
        assertEquals(NONE, new Discovery(queue).require(asked).added(), "one is pending");
        runToItsEnd();
        assertEquals(List.of("a.sh"), new Discovery(queue).require(asked).added());
    }

    @Test void of_a_file_that_was_asked_for_says_why_it_cannot_run() throws IOException {
        write("bad.sh", "#JOB lease=5\n");
        Discovery.Found found = new Discovery(queue).require(List.of(JobFile.named(folder, "bad")));
        assertEquals(NONE, found.added());
        assertEquals(1, found.refused().size());
        assertTrue(found.refused().get(0).startsWith("jobs/bad.sh:2: "), found.refused().get(0));
    }

    @Test void by_two_that_start_together_adds_once() throws Exception {
        for (int n = 0; n < 5; n++) {
            write("job" + n + ".sh", "");
        }
        Thread other = new Thread(() -> {
            try (SlothQueue own = SlothQueue.open(folder, clock)) {
                new Discovery(own).discover(true);
            }
        });
        other.start();
        start();
        other.join();
        assertEquals(5, queue.list().size());
    }
}
