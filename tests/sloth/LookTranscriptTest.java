package sloth;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@DisplayName("To look:")
class LookTranscriptTest {

    private static final String TWICE = "echo $SLOTHQ_ATTEMPT begins; until [ -e go$SLOTHQ_ATTEMPT ]; do sleep 0.05; done; "
        + "echo $SLOTHQ_ATTEMPT ends; [ $SLOTHQ_ATTEMPT = 2 ]";

    @RegisterExtension final Cli here = new Cli();

    @Test void status_says_what_stands_where_and_that_no_worker_runs() {
        here.sh("fails", "#JOB attempts=1", "exit 1");
        here.sh("works", "echo fine");
        here.slothq("run").exits(1);
        here.slothq("add", "--in", "1h", "--", "true");
        here.slothq("add", "works");
        here.slothq("status").exits(0).quietly().hasLine("2 pending, 1 done, 1 failed").hasLine("1 waits, the next falls due at ")
            .hasLine("no worker runs; 'slothq run' starts one");
    }

    @Test void list_shows_rows_oldest_first_and_can_choose() {
        here.sh("a", "#JOB run=added", "true");
        here.slothq("add", "a", "x y");
        here.slothq("add", "--each", here.file("lines", "1\n2\n").toString(), "--", "echo");
        here.slothq("cancel", "2");
        assertEquals(List.of("1 a.sh 'x y'", "2 echo 1", "3 echo 2"), rows("list"));
        assertEquals(List.of("2 echo 1"), rows("list", "--state", "cancelled"));
        assertEquals(List.of("1 a.sh 'x y'"), rows("list", "--job", "a"));
        assertEquals(List.of("2 echo 1", "3 echo 2"), rows("list", "--batch", "1"));
        assertEquals(List.of("3 echo 2"), rows("list", "--batch", "1", "--limit", "1"));
        here.slothq("list", "--limit", "1").says("2 older ones are not shown");
    }

    private List<String> rows(String... command) {
        return here.slothq(command).exits(0).out().lines().skip(1)
            .map(l -> l.replaceFirst("^(\\d+) +\\w+ +\\d+/\\d+ +(.*?) *$", "$1 $2")).toList();
    }

    @Test void show_tells_a_jobs_history_with_the_reasons() {
        here.sh("flaky", "#JOB backoff=50ms", "echo not yet; exit $((2 - SLOTHQ_ATTEMPT))");
        here.slothq("run").exits(0);
        here.slothq("show", "1").exits(0).quietly().hasLine("job 1  flaky.sh").hasLine("state", "done, attempt 2 of 4")
            .hasLine("added").hasLine("claimed", "1").hasLine("retry", "1", "exit 1", "waits 0.1s")
            .hasLine("claimed", "2").hasLine("done", "2");
    }

    @Test void log_has_nothing_before_the_first_attempt() {
        here.slothq("add", "--", "true");
        here.slothq("log", "1").refuses("job 1 has not run yet");
    }

    @Test void log_f_follows_from_before_the_start_through_a_retry_to_the_end() {
        here.sh("twice", "#JOB run=added backoff=300ms", TWICE);
        here.slothq("add", "twice");
        Cli.Live before = here.start("log", "-f", "1").saysSoon("no worker runs");
        Cli.Live run = here.start("run");
        before.printsSoon("1 begins\n");
        here.slothq("log", "1").exits(0).prints("1 begins");
        Cli.Live during = here.start("log", "-f", "1").printsSoon("1 begins\n");
        assertFalse(before.out().contains("ends"), "as it is written, not at the end");
        here.file("go1", "");
        before.printsSoon("2 begins\n");
        here.file("go2", "");
        run.ends().exits(0);
        before.ends().exits(0).prints("1 begins", "1 ends", "2 begins", "2 ends");
        during.ends().exits(0).prints("1 begins", "1 ends", "2 begins", "2 ends").quietly();
        here.slothq("log", "-f", "1").exits(0).prints("2 begins", "2 ends").quietly();
        here.slothq("log", "1", "--attempt", "1").exits(0).prints("1 begins", "1 ends");
    }

    @Test void wait_ends_with_the_jobs_and_says_when_nobody_works_on_them() {
        here.sh("twice", "#JOB run=added backoff=50ms", TWICE);
        here.slothq("add", "twice");
        Cli.Live wait = here.start("wait", "1").saysSoon("no worker runs in " + here.folder());
        here.file("go1", "");
        here.file("go2", "");
        here.slothq("run").exits(0);
        wait.ends().exits(0).prints();
        assertEquals(1, wait.err().lines().count(), "it says so once");
    }

    @Test void wait_for_a_batch_without_jobs_is_over_at_once() {
        here.slothq("add", "--each", here.file("none", "").toString(), "--", "true").exits(0);
        here.slothq("wait", "--batch", "1").exits(0);
    }

    @Test void wait_exits_1_when_one_failed_or_was_cancelled() {
        here.slothq("add", "--attempts", "1", "--", "false");
        here.slothq("add", "--", "true");
        here.slothq("add", "--", "true");
        here.slothq("cancel", "3");
        here.slothq("run").exits(1);
        here.slothq("wait", "2").exits(0).quietly();
        here.slothq("wait", "2", "1").exits(1);
        here.slothq("wait", "2", "3").exits(1);
        here.slothq("wait", "2", "9").refuses("no job 9");
        here.slothq("add", "--each", here.file("lines", "0\n0\n").toString(), "--", "sh", "-c", "exit $1", "x").exits(0);
        here.slothq("run").exits(0);
        here.slothq("wait", "--batch", "1").exits(0).quietly();
    }

    /** A pipe has none; see UsageTranscriptTest. */
    @EnabledOnOs(value = OS.LINUX, disabledReason = "the script command has other options elsewhere")
    @Test void a_terminal_has_colours_unless_they_are_not_wanted() {
        assumeTrue(Guard.which("script") != null, "needs the script command, for a terminal");
        here.slothq("add", "--", "true");
        String terminal = "printf '%s ' \"$@\" >command; exec script -qec \"$(cat command) status\" /dev/null";
        String coloured = here.shell(Map.of("TERM", "xterm"), terminal).ends().exits(0).out();
        assertTrue(coloured.contains("\u001b[33mpending\u001b[0m"), coloured);
        String plain = here.shell(Map.of("TERM", "xterm", "NO_COLOR", "1"), terminal).ends().exits(0).out();
        assertTrue(plain.contains("1 pending") && !plain.contains("\u001b"), plain);
    }
}
