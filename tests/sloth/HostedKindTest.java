package sloth;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A class that implements {@code sloth.Job}, with one argument for each way to end. Built once for all tests. */
@DisplayName("A hosted job")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class HostedKindTest {

    private static final String HOSTED = """
        //JOB run=added attempts=2 backoff=50ms timeout=%s
        //DEPS ../.slothq/sloth.jar
        import java.nio.file.*;
        import sloth.*;

        public class %s implements Job {
            @Override public Object run(JobContext job) throws Exception {
                boolean first = Files.notExists(job.state().resolve("seen"));
                Files.writeString(job.state().resolve("seen"), "");
                switch (job.args().get(0)) {
                    case "result": System.out.println("printed"); return "it said " + job.args().get(1);
                    case "printed": System.out.println("one"); System.out.println("the last line"); return null;
                    case "flaky": if (first) throw new IllegalStateException("not yet"); return "attempt " + job.attempt();
                    case "notnow": if (first) throw new NotNow("no network"); return "attempt " + job.attempt();
                    case "giveup": throw new GiveUp("no such picture");
                    case "exit": System.exit(3); return null;
                    case "pid": return ProcessHandle.current().pid();
                    case "child": return new ProcessBuilder("sleep", "300").start().pid();
                    case "thread": return thread(job, first);
                    case "add": return job.add("%2$s", "result", "a b");
                    case "steps": return steps(job);
                    case "hang": return hang();
                    default: throw new GiveUp("what is " + job.args());
                }
            }

            private static Object thread(JobContext job, boolean first) throws Exception {
                Path home = job.state().resolve("jvm");
                if (first) {
                    Files.writeString(home, "" + ProcessHandle.current().pid());
                    new Thread(() -> sleep()).start();
                    throw new IllegalStateException("a thread goes on");
                }
                return ProcessHandle.of(Long.parseLong(Files.readString(home))).isPresent() ? "beside it" : "after it";
            }

            private static Object steps(JobContext job) throws Exception {
                int sum = 0;
                for (int i = 1; i <= 10; i++) {
                    int n = i;
                    sum += job.step("step " + n, Integer.class, () -> {
                        Path did = Path.of("steps");
                        Files.writeString(did, job.attempt() + ":" + n + "\\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                        if (n == 7 && job.attempt() == 1) {
                            hang();
                        }
                        return n;
                    });
                }
                return sum;
            }

            private static Object hang() throws Exception {
                Path part = Files.writeString(Path.of("hanging.part"), ProcessHandle.current().pid() + "\\n");
                Files.move(part, Path.of("hanging"), StandardCopyOption.REPLACE_EXISTING);
                return sleep();
            }

            private static Object sleep() {
                while (true) {
                    try {
                        Thread.sleep(300_000);
                    } catch (InterruptedException e) {
                        System.out.println("does not listen");
                    }
                }
            }
        }
        """;

    @RegisterExtension static final Cli here = new Cli();

    @BeforeAll static void run() {
        here.file("jobs/hosted.java", HOSTED.formatted("10m", "hosted"));
        for (String word : List.of("printed", "flaky", "notnow", "giveup", "exit", "child", "thread", "add")) {
            here.slothq("add", "hosted", word).exits(0);
        }
        here.slothq("add", "hosted", "result", "ü").exits(0);
        String lines = IntStream.rangeClosed(1, 50).mapToObj(Integer::toString).collect(Collectors.joining("\n"));
        here.slothq("add", "--each", here.file("lines", lines).toString(), "hosted", "pid").exits(0);
        here.process("run").exits(1);
    }

    private static JobRecord job(String word) {
        return here.jobs().stream().filter(j -> j.args().get(0).equals(word)).findFirst().orElseThrow();
    }

    private static void ends(String word, State state, int attempts, String message) {
        JobRecord job = job(word);
        assertEquals(state + " " + attempts + " " + message, job.state() + " " + job.attempts() + " " + job.message(),
            () -> here.slothq("log", Long.toString(job.id())).out());
    }

    @Test void gives_its_result_for_a_message_or_else_its_last_line() {
        ends("result", State.DONE, 1, "it said ü");
        ends("printed", State.DONE, 1, "the last line");
        // The first job of a JVM has in its log what that JVM says of its options.
        assertEquals("one\nthe last line\n", Cli.withoutJvmNotes(here.slothq("log", Long.toString(job("printed").id())).out()));
        here.slothq("log", Long.toString(job("result").id())).prints("printed");
    }

    @Test void is_tried_again_after_an_exception() {
        ends("flaky", State.DONE, 2, "attempt 2");
        assertEquals("added claimed retry claimed done", here.events(job("flaky").id()));
        String log = here.slothq("log", Long.toString(job("flaky").id()), "--attempt", "1").exits(0).out();
        assertTrue(log.contains("IllegalStateException: not yet\n\tat hosted.run("), log);
    }

    @Test void says_not_now_and_give_up_by_exceptions() {
        ends("notnow", State.DONE, 1, "attempt 1");
        assertEquals(List.of("not now"), here.details(job("notnow").id(), "reason"));
        ends("giveup", State.FAILED, 1, "no such picture");
    }

    @Test void that_ends_its_JVM_fails_and_the_next_one_gets_a_new_JVM() {
        ends("exit", State.FAILED, 2, "exit 3");
        ends("child", State.DONE, 1, job("child").message());
    }

    @Test void leaves_no_child_behind_though_its_JVM_goes_on() {
        assertFalse(Cli.isAlive(Long.parseLong(job("child").message())));
    }

    @Test void does_not_run_again_beside_a_thread_of_its_failed_attempt() {
        ends("thread", State.DONE, 2, "after it");
    }

    @Test void can_add_another_job() {
        JobRecord added = here.job(Long.parseLong(job("add").message()));
        assertEquals(List.of("result", "a b"), added.args());
        assertEquals("it said a b", added.message());
    }

    @Test void runs_in_one_JVM_for_fifty_arguments() {
        List<JobRecord> fifty = here.jobs().stream().filter(j -> j.args().get(0).equals("pid")).toList();
        assertEquals(50, fifty.size());
        Set<String> pids = new HashSet<>(fifty.stream().map(JobRecord::message).toList());
        assertEquals(1, pids.size(), "" + pids);
        assertFalse(Cli.isAlive(Long.parseLong(pids.iterator().next())), "it ended with its worker");
    }

    @Test @Order(Integer.MAX_VALUE - 1) void goes_on_from_the_step_where_its_worker_was_killed() {
        long id = Long.parseLong(here.slothq("add", "hosted", "steps").exits(0).out().strip());
        Cli.Live run = here.start("run");
        long jvm = here.pidIn("hanging");
        run.killed();
        Cli.until("the JVM ends with its worker", () -> !Cli.isAlive(jvm));
        here.slothq("run").exits(0).hasLine("done", "hosted.java steps", "55");
        assertEquals("1:1 1:2 1:3 1:4 1:5 1:6 1:7 2:7 2:8 2:9 2:10", here.read("steps").strip().replace('\n', ' '));
        assertEquals("added claimed" + " step".repeat(6) + " reclaimed claimed" + " step".repeat(4) + " done", here.events(id));
        assertEquals(2, here.job(id).attempts());
    }

    @Test @Order(Integer.MAX_VALUE) void is_ended_with_its_JVM_when_its_time_is_over_and_it_does_not_listen() throws Exception {
        java.nio.file.Files.deleteIfExists(here.folder().resolve("hanging"));
        here.file("jobs/late.java", HOSTED.formatted("3s", "late"));
        long id = Long.parseLong(here.slothq("add", "--attempts", "1", "late", "hang").exits(0).out().strip());
        here.slothq("run").exits(1).hasLine("failed", "late.java hang", "timeout: not done after 3s");
        assertFalse(Cli.isAlive(here.pidIn("hanging")));
        here.slothq("log", Long.toString(id)).prints("does not listen");
    }
}
