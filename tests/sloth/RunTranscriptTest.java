package sloth;

import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("run")
@Execution(ExecutionMode.CONCURRENT)
class RunTranscriptTest {

    @RegisterExtension final Cli here = new Cli();

    // ---- retries

    @Test void tries_again_until_it_succeeds() {
        here.sh("flaky", "#JOB backoff=500ms..1s", "echo try $SLOTHQ_ATTEMPT", "[ $SLOTHQ_ATTEMPT -gt 2 ]");
        here.slothq("run").exits(0)
            .hasLine("retry", "1 flaky.sh", "try 1", "(attempt 1 of 4); again at ")
            .hasLine("retry", "1 flaky.sh", "try 2", "(attempt 2 of 4); again at ")
            .hasLine("done", "1 flaky.sh", "try 3")
            .hasLine("1 done, 2 retries")
            .says("waiting for the next job, due ");
        assertEquals(3, here.job(1).attempts());
        assertEquals("added claimed retry claimed retry claimed done", here.events(1));
        assertEquals(List.of(500L, 1000L), here.details(1, "wait_ms"));
    }

    @Test void gives_up_after_the_last_attempt_and_exits_1() {
        here.sh("always", "#JOB attempts=2 backoff=50ms", "echo broken", "exit 3");
        here.sh("good", "echo good");
        here.slothq("run").exits(1)
            .hasLine("retry", "always.sh")
            .hasLine("failed", "1 always.sh", "exit 3: broken")
            .hasLine("done", "2 good.sh")
            .hasLine("1 done, 1 retry, 1 failed").says("slothq log ID");
        assertEquals(State.FAILED, here.job(1).state());
        assertEquals(2, here.job(1).attempts());
        assertEquals("added claimed retry claimed failed", here.events(1));
        here.slothq("run").exits(0).prints("nothing to do");
    }

    @Test void waits_two_seconds_and_then_four_by_default() {
        here.sh("always", "exit 1");
        here.slothq("run", "--no-wait").exits(0);
        assertEquals(List.of(2000L), here.details(1, "wait_ms"));
        long next = here.job(1).notBefore();
        Event retry = here.history(1).get(2);
        assertEquals(retry.at() + 2000, next);
    }

    @Test void leaves_a_waiting_job_with_no_wait_and_names_it_with_its_time() {
        here.slothq("add", "--in", "1h", "--", "backup", "a b");
        here.slothq("add", "--", "echo", "now");
        here.slothq("run", "--no-wait").exits(0).hasLine("done", "2 echo now").hasLine("later", "1 backup 'a b'", "at ", "(in 59m");
        here.slothq("run", "--patience", "1s").exits(0).hasLine("later", "1 backup 'a b'", "at ");
        assertEquals(State.PENDING, here.job(1).state());
        assertEquals("added", here.events(1));
    }

    @Test void waits_within_its_patience_for_a_job_that_falls_due() {
        here.slothq("add", "--in", "1s", "--", "echo", "late");
        here.slothq("run").exits(0).hasLine("done", "1 echo late").says("waiting for the next job");
    }

    // ---- files that cannot run

    @Test void shows_what_the_compiler_says_and_runs_the_others() {
        here.file("jobs/bad.java", """
            class bad {
                public static void main(String... args) {
                    int n = "seven";
                }
            }
            """);
        here.sh("good", "echo good");
        // With options in the environment the compiler's JVM says so first: that is not what is wrong.
        here.start(Map.of("JAVA_TOOL_OPTIONS", "-Dany=thing"), "run").ends().exits(1)
            .hasLine("failed", "1 bad.java", "jobs/bad.java:3: error: incompatible types")
            .hasLine("done", "2 good.sh")
            .hasLine("1 done, 1 failed")
            .says("jobs/bad.java:3: error: incompatible types: String cannot be converted to int", "int n = \"seven\";");
        assertEquals("added claimed failed", here.events(1), "no retry mends a type error");
        here.slothq("run").exits(0).prints("nothing to do");

        here.file("jobs/bad.java", """
            class bad {
                public static void main(String... args) {
                    System.out.println("mended");
                }
            }
            """);
        here.slothq("run").exits(0).hasLine("done", "3 bad.java", "mended");
        here.slothq("log", "1").exits(0).hasLine("incompatible types");
    }

    @Test void refuses_a_file_with_a_wrong_option_and_runs_the_others() {
        here.sh("a", "# a comment", "#JOB retries=3", "touch ran-a");
        here.file("jobs/b.java", "//JOB every=1h\nclass b { public static void main(String... a) { } }\n");
        here.sh("c", "#JOB attempts=many", "touch ran-c");
        here.sh("d", "# job attempts=3", "touch ran-d");
        here.sh("good", "echo good");
        Cli.Said said = here.slothq("run").exits(1).hasLine("done", "1 good.sh").hasLine("1 done, 4 files refused");
        assertEquals(List.of(
            "slothq: jobs/a.sh:3: unknown option 'retries'; did you mean 'attempts'? (skipped)",
            "slothq: jobs/b.java:1: unknown option 'every'; the options are attempts, backoff, lease, timeout, stall, "
                + "priority, run, key (skipped)",
            "slothq: jobs/c.sh:2: attempts=many is not a whole number from 1 to 1000000 (skipped)",
            "slothq: jobs/d.sh:2: '# job attempts=3' is not read; write it as #JOB key=value (skipped)"), said.err().lines().toList());
        assertEquals(1, here.jobs().size());
        assertFalse(here.has("ran-a") || here.has("ran-c") || here.has("ran-d"));
        here.slothq("run", "a").exits(1).says("unknown option 'retries'");
        assertFalse(here.has("ran-a"));
    }

    // ---- discovery

    @Test void passes_over_what_is_no_job_file() {
        here.sh("a", "true");
        here.sh("_kept", "true");
        here.sh(".hidden", "true");
        for (String name : List.of("sub/b.sh", "c.sh~", "d.bak", "e.orig", "f.tmp", "README.md")) {
            here.file("jobs/" + name, "#!/bin/sh\ntouch wrong\n");
        }
        here.slothq("run").exits(0).hasLine("done", "1 a.sh").hasLine("1 done").quietly();
        assertEquals(1, here.jobs().size());
        assertFalse(here.has("wrong"));
    }

    @Test void takes_files_in_the_order_of_their_names() {
        here.sh("b", "true");
        here.sh("a", "true");
        here.sh("c", "#JOB priority=1", "true");
        assertEquals(List.of("3 c.sh", "1 a.sh", "2 b.sh"), here.slothq("run").out().lines().filter(l -> l.startsWith("done"))
            .map(l -> l.replaceFirst("done +(\\d+ \\S+).*", "$1")).toList());
    }

    @Test void runs_an_edited_file_again_and_a_finished_one_not() {
        here.sh("a", "echo one");
        here.slothq("run").exits(0).hasLine("done", "1 a.sh", "one");
        here.slothq("run").exits(0).prints("nothing to do");
        here.sh("a", "echo two");
        here.slothq("run").exits(0).hasLine("done", "2 a.sh", "two");
        here.slothq("run").exits(0).prints("nothing to do");
    }

    @Test void runs_a_failed_one_after_an_edit_only() {
        here.sh("a", "#JOB attempts=1", "exit 1");
        here.slothq("run").exits(1);
        here.slothq("run").exits(0).prints("nothing to do");
        here.sh("a", "echo mended");
        here.slothq("run").exits(0).hasLine("done", "2 a.sh", "mended");
        assertEquals(State.FAILED, here.job(1).state());
    }

    @Test void runs_one_that_was_edited_while_pending_once_as_it_is_now() {
        here.sh("a", "#JOB backoff=1h", "echo old; exit 1");
        here.slothq("run", "--no-wait").exits(0).hasLine("retry", "1 a.sh");
        here.sh("a", "echo new; echo new >> ran");
        here.slothq("run", "--no-wait").exits(0).hasLine("later", "1 a.sh");
        here.slothq("cancel", "1").exits(0);
        here.slothq("retry", "1").exits(0);
        here.slothq("run").exits(0).hasLine("done", "1 a.sh", "new");
        here.slothq("run").exits(0).prints("nothing to do");
        assertEquals("new\n", here.read("ran"));
    }

    @Test void fails_a_pending_job_whose_file_is_gone() throws Exception {
        here.sh("a", "true");
        here.slothq("add", "a");
        Files.delete(here.folder().resolve("jobs/a.sh"));
        here.slothq("run").exits(1).hasLine("failed", "1 a.sh", "jobs/a.sh is gone");
        assertEquals("jobs/a.sh is gone", here.job(1).message());
    }

    @Test void runs_always_files_at_each_start_and_added_ones_never_by_itself() {
        here.sh("always", "#JOB run=always", "true");
        here.sh("added", "#JOB run=added", "true");
        here.slothq("run").exits(0).hasLine("1 done");
        here.slothq("run").exits(0).hasLine("1 done");
        assertEquals(List.of("always.sh", "always.sh"), here.jobs().stream().map(JobRecord::job).toList());
        here.slothq("add", "always");
        here.slothq("run").exits(0).hasLine("done", "3 always.sh").hasLine("1 done");
    }

    @Test void runs_what_is_named_though_it_is_done_and_nothing_else() {
        here.sh("hello", "echo hello");
        here.sh("other", "echo other");
        here.slothq("run").exits(0).hasLine("2 done");
        here.slothq("add", "other");
        here.slothq("run", "hello").exits(0).hasLine("done", "4 hello.sh").hasLine("1 done");
        assertEquals(State.PENDING, here.job(3).state());
        here.slothq("run", "other").exits(0).hasLine("done", "3 other.sh").hasLine("1 done");
    }

    @Test void does_not_take_a_job_added_by_hand_for_a_discovered_one() {
        here.sh("a", "echo a");
        here.slothq("add", "a");
        here.slothq("run", "a").exits(0).hasLine("1 done");
        here.slothq("run").exits(0).hasLine("done", "2 a.sh");
    }

    // ---- ways to run

    @Test void shows_the_jobs_output_on_stderr_with_v() {
        here.sh("a", "echo to stdout", "echo to stderr >&2", "echo last");
        Cli.Said said = here.slothq("run", "-v").exits(0).says("to stdout\n", "to stderr\n", "last\n");
        assertFalse(said.out().contains("to stdout"), said.out());
        here.sh("a", "echo quiet now");
        assertFalse(here.slothq("run").exits(0).err().contains("quiet now"));
    }

    @Test void has_four_jobs_under_way_at_once_with_parallel_4() {
        here.sh("meet", "#JOB run=added attempts=1 timeout=30s",
            "touch here.$1", "until [ $(ls here.* | wc -l) = 4 ]; do sleep 0.05; done", "echo met");
        for (String n : List.of("1", "2", "3", "4")) {
            here.slothq("add", "meet", n);
        }
        here.slothq("run", "--parallel", "4").exits(0).hasLine("4 done");
    }

    @Test void has_one_job_under_way_at_a_time_without_it() {
        here.sh("alone", "#JOB run=added attempts=1", "mkdir alone || exit 1", "sleep 0.1", "rmdir alone");
        for (String n : List.of("1", "2", "3", "4")) {
            here.slothq("add", "alone", n);
        }
        here.slothq("run").exits(0).hasLine("4 done");
    }

    @Test void may_be_started_twice_at_once_and_does_each_job_once() {
        String ids = IntStream.rangeClosed(1, 200).mapToObj(Integer::toString).collect(Collectors.joining("\n"));
        here.file("lines", ids);
        here.slothq("add", "--each", here.folder().resolve("lines").toString(), "--", "sh", "-c", "echo $1 >> did", "x").exits(0);
        for (String name : List.of("a", "b", "c")) {
            here.sh(name, "echo " + name + " >> did");
        }
        Cli.Live first = here.start("run");
        Cli.Live second = here.start("run");
        first.ends().exits(0).quietly();
        second.ends().exits(0).quietly();
        Map<String, Long> did = here.read("did").lines().collect(Collectors.groupingBy(l -> l, Collectors.counting()));
        assertEquals(203, did.size());
        assertEquals(List.of(1L), did.values().stream().distinct().toList(), "each exactly once");
        assertTrue(here.jobs().stream().allMatch(j -> j.state() == State.DONE && j.claims() == 1));
    }

    @Test void stays_with_watch_and_takes_up_what_is_new_or_changed_once_it_is_still() {
        here.sh("first", "echo first");
        Cli.Live run = here.start("run", "--watch").printsSoon("first.sh");
        // A copy that takes its time: never still for two seconds, and half of it is a script too.
        StringBuilder half = new StringBuilder("#!/bin/sh\necho half >> ran\n");
        for (int i = 0; i < 3; i++) {
            here.file("jobs/copied.sh", half.append("# more\n").toString());
            Cli.pause(Duration.ofMillis(1100));
        }
        here.file("jobs/copied.sh", half + "echo whole >> ran; echo whole\n");
        run.printsSoon("whole");
        assertEquals("half\nwhole\n", here.read("ran"), "taken up once");
        here.sh("first", "echo changed");
        run.printsSoon("changed");
        here.slothq("add", "--", "echo", "added meanwhile");
        run.printsSoon("'added meanwhile'");
        run.signal("TERM").ends().exits(143).hasLine("stopped: 4 done");
        assertEquals(4, here.jobs().size());
    }
}
