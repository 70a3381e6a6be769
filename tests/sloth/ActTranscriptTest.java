package sloth;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("By hand:")
class ActTranscriptTest {

    @RegisterExtension final Cli here = new Cli();

    @Test void a_cancelled_job_does_not_run_until_it_is_retried() {
        here.slothq("add", "--", "echo", "ran");
        here.slothq("cancel", "1").exits(0).prints("1").quietly();
        here.slothq("run").exits(0).prints("nothing to do");
        assertEquals("added cancelled", here.events(1));
        here.slothq("cancel", "1").refuses("job 1 is cancelled");
        here.slothq("retry", "1").exits(0).prints("1").quietly();
        here.slothq("run").exits(0).hasLine("done", "1 echo ran");
        assertEquals("added cancelled requeued claimed done", here.events(1));
    }

    @Test void cancel_takes_all_ids_or_none() {
        here.slothq("add", "--", "true");
        here.slothq("add", "--", "true");
        here.slothq("cancel", "1", "9").refuses("no job 9");
        assertEquals(State.PENDING, here.job(1).state());
        here.slothq("cancel", "1", "2").exits(0).prints("1", "2");
    }

    @Test void an_id_that_is_named_twice_counts_once() {
        here.slothq("add", "--", "true");
        here.slothq("cancel", "1", "1").exits(0);
        here.slothq("retry", "1", "1").exits(0);
        assertEquals("added cancelled requeued", here.events(1));
    }

    @Test void a_retried_job_has_all_its_attempts_again_and_keeps_its_history() {
        here.sh("twice", "#JOB attempts=2 backoff=50ms", "[ -e mended ]");
        here.slothq("run").exits(1);
        assertEquals(2, here.job(1).attempts());
        here.slothq("retry", "1").exits(0).prints("1");
        assertEquals(0, here.job(1).attempts());
        here.slothq("run").exits(1);
        here.file("mended", "");
        here.slothq("retry", "--failed").exits(0).prints("1");
        here.slothq("run").exits(0).hasLine("done", "1 twice.sh");
        assertEquals("added claimed retry claimed failed requeued claimed retry claimed failed requeued claimed done", here.events(1));
        assertEquals(5, here.job(1).claims(), "claims are never renumbered");
        here.slothq("log", "1", "--attempt", "5").exits(0);
    }

    @Test void retry_gives_way_to_a_job_that_holds_the_key_now() {
        here.slothq("add", "--key", "k", "--attempts", "1", "--", "false");
        here.slothq("add", "--attempts", "1", "--", "false");
        here.slothq("run").exits(1);
        here.slothq("add", "--key", "k", "--in", "1h", "--", "true");
        here.slothq("retry", "1").refuses("job 1 cannot be retried: job 3 holds its key 'k' now");
        here.slothq("retry", "2", "1").refuses("job 3 holds its key");
        assertEquals(State.FAILED, here.job(2).state(), "all or none");
        here.slothq("retry", "--failed").exits(0).prints("2").says("job 3 holds its key 'k' now (passed over)");
    }

    @Test void prune_removes_what_ended_long_enough_ago_with_history_and_logs() throws Exception {
        here.sh("kept", "echo kept");
        for (int i = 0; i < 3; i++) {
            here.slothq("add", "--", "echo", "x");
        }
        here.slothq("run").exits(0);
        here.slothq("add", "--", "true");
        here.slothq("prune").exits(0).prints("0 jobs removed");
        here.slothq("prune", "--older", "0s").exits(0).prints("3 jobs removed").quietly();
        assertEquals(List.of("kept.sh", "true"), here.jobs().stream().map(JobRecord::title).toList());
        here.slothq("show", "1").refuses("no job 1");
        try (var logs = Files.list(here.folder().resolve(".slothq/logs"))) {
            assertEquals(List.of("4.1.log"), logs.map(p -> p.getFileName().toString()).toList());
        }
        here.slothq("run").exits(0).hasLine("1 done");
        assertTrue(here.slothq("add", "--", "true").out().strip().equals("6"), "ids are never used again");
        assertFalse(here.slothq("doctor").exits(0).out().contains("bad "));
    }

    @Test void backup_makes_a_copy_that_works() throws Exception {
        here.sh("a", "echo a");
        here.slothq("run").exits(0);
        here.slothq("add", "--", "echo", "later");
        String copy = here.folder().resolve("copy.db").toString();
        here.slothq("backup", copy).exits(0).prints(copy);
        here.slothq("backup", copy).refuses("is there already");
        here.in("other").file(".slothq/queue.db", "");
        Files.copy(Path.of(copy), here.folder().resolve(".slothq/queue.db"), StandardCopyOption.REPLACE_EXISTING);
        here.slothq("run").exits(0).hasLine("done", "2 echo later").hasLine("1 done");
    }
}
