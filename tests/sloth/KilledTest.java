package sloth;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** kill -9: of the worker, by somebody or by its own job. */
@DisplayName("A killed worker")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(value = {OS.LINUX, OS.MAC}, disabledReason = "signals are not a thing of Windows")
class KilledTest {

    /** The promise is a second; a busy machine may be late. */
    private static final Duration GROUP_GONE = Duration.ofSeconds(3);

    @RegisterExtension final Cli cli = new Cli();

    @Test void takes_the_group_of_its_job_with_it() {
        cli.sh("family", "sh -c 'sleep 300 & echo $! > grandchild; wait' &", "echo $! > child", "echo $$ > main", "wait");
        Cli.Live worker = cli.start("run");
        List<Long> family = List.of(cli.pidIn("main"), cli.pidIn("child"), cli.pidIn("grandchild"));
        worker.killed();
        assertTrue(Cli.waitFor(GROUP_GONE, () -> family.stream().noneMatch(Cli::isAlive)), "still alive: " + family);
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "what left its group is found through /proc")
    void leaves_nothing_that_the_next_attempt_would_meet() throws Exception {
        // Besides the group there is a process in a session of its own, which the guard does not reach.
        Witness witness = Witness.in(cli.folder()).stray("stray.sh", "");
        cli.slothq("add", "stray", "0", "600", "1").exits(0);
        Cli.Live worker = cli.start("run");
        witness.until("start", 1, 2);
        worker.killed();
        assertTrue(Cli.waitFor(GROUP_GONE, () -> witness.living().size() <= 1), "the group outlived its worker");
        cli.process("run").exits(0);
        assertEquals("added claimed reclaimed claimed done", cli.events(1));
        assertEquals(List.of("worker died"), cli.details(1, "reason"));
        witness.assertNeverTwoAlive();
        witness.assertNobodyLeft();
    }

    @Test void by_its_own_job_in_each_attempt_is_not_killed_for_ever() {
        cli.sh("murder", "#JOB attempts=2", "echo x >> killed", "kill -9 $PPID", "sleep 60");
        for (int run = 1; run <= 2; run++) {
            cli.process("run").exits(137);
        }
        cli.process("run").exits(1).hasLine("failed", "murder.sh", "stranded");
        cli.process("run").exits(0);
        assertEquals("added claimed reclaimed claimed failed", cli.events(1));
        assertEquals("stranded: worker died in attempt 2 of 2", cli.job(1).message());
        assertEquals("x\nx\n", cli.read("killed"));
    }

    @Test void is_not_what_a_job_becomes_whose_own_jvm_is_halted() {
        String halt = "Runtime.getRuntime().halt(3);";
        cli.file("jobs/plain.java", "//JOB attempts=1\npublic class plain { public static void main(String[] a) { " + halt + " } }\n");
        cli.file("jobs/hosted.java", "//JOB attempts=1\n//DEPS ../.slothq/sloth.jar\nimport sloth.*;\n"
            + "public class hosted implements Job { public Object run(JobContext job) { " + halt + " return null; } }\n");
        cli.process("run").exits(1);
        for (long id : List.of(1L, 2L)) {
            assertEquals("added claimed failed", cli.events(id));
            assertEquals("exit 3", cli.job(id).message());
        }
    }

    @Test void while_it_stops_loses_nothing() {
        cli.sh("stubborn", "trap '' TERM", "echo $$ > main", "while true; do sleep 0.1; done");
        Cli.Live worker = cli.start("run");
        long job = cli.pidIn("main");
        worker.signal("TERM");
        // It gives the job five seconds to end; it does not get them.
        assertFalse(worker.endsWithin(Duration.ofMillis(500)));
        worker.killed();
        assertTrue(Cli.waitFor(GROUP_GONE, () -> !Cli.isAlive(job)), "it outlived its worker");
        cli.sh("stubborn", "true");
        cli.process("run").exits(0);
        assertEquals("added claimed reclaimed claimed done", cli.events(1));
    }
}
