package sloth;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** One run of a folder with a job file of each kind; each test looks at one. HostedKindTest has the hosted ones. */
@DisplayName("A job file")
class KindsTest {

    @RegisterExtension static final Cli here = new Cli();
    private static Cli.Said run;

    @BeforeAll static void run() throws IOException {
        here.file("jobs/lib.java", """
            //JOB run=added attempts=1
            //DEPS com.google.code.gson:gson:2.14.0
            //RUNTIME_OPTIONS -Dcolour=green
            class lib {
                public static void main(String... args) throws Exception {
                    switch (args[0]) {
                        case "json" -> System.out.println(new com.google.gson.Gson().toJson(args) + System.getProperty("colour"));
                        case "halt" -> Runtime.getRuntime().halt(7);
                        case "throw" -> throw new IllegalStateException("no such picture");
                        default -> System.out.println(new java.io.File(".").getCanonicalPath());
                    }
                }
            }
            """);
        here.file("jobs/nomain.java", "class nomain { }\n");
        here.sh("run-bit", "echo $0");
        here.file("jobs/no-run-bit.sh", "#!/bin/sh -e\ncase $- in *e*) echo \"$0 -e $1\";; esac\n").toFile().setExecutable(false);
        here.file("jobs/script.py", "#!/usr/bin/env python3\nimport sys\nprint('python', sys.argv[1:])\n").toFile().setExecutable(false);
        here.file("jobs/windows.sh", "#!/bin/sh\r\necho never\r\n");
        Files.copy(Guard.which("echo"), here.folder().resolve("jobs/binary"));
        here.file("jobs/good.jsh", "//JOB attempts=1\nint twice(int n) { return 2 * n; }\nprintln(args.length + \" \" + twice(21));\n");
        here.file("jobs/wrong.jsh", "//JOB backoff=1s\nint n = 1;\nString s = n;\n");
        here.file("jobs/throws.jsh", "//JOB attempts=1\nprintln(\"begun\");\nint n = 1 / 0;\nprintln(\"never\");\n");
        here.file("jobs/notes.md", "# Notes\n\n```java\nSystem.out.println(\"from the notes\");\n```\n");

        for (String word : List.of("json", "halt", "throw", "folder")) {
            here.slothq("add", "lib", word, "", "a b", "ü\"$'").exits(0);
        }
        here.slothq("add", "no-run-bit", "a b").exits(0);
        here.slothq("add", "binary", "-n", "a  b").exits(0);
        here.slothq("add", "--", "printf", "%s|", "a b", "", "$HOME", "*").exits(0);
        here.slothq("add", "notes.md").exits(0);
        run = here.process("run", "--parallel", "3");
    }

    private static JobRecord job(String title) {
        return here.jobs().stream().filter(j -> j.title().startsWith(title)).findFirst()
            .orElseThrow(() -> new AssertionError("no job " + title));
    }

    private static void ends(String title, State state, String message) {
        assertEquals(state + " " + message, job(title).state() + " " + job(title).message(), () -> new String(log(title)));
    }

    private static byte[] log(String title) {
        return here.slothq("log", Long.toString(job(title).id())).bytes();
    }

    @Test void in_java_has_its_dependencies_its_options_and_its_arguments() {
        ends("lib.java json", State.DONE, "[\"json\",\"\",\"a b\",\"ü\\\"$\\u0027\"]green");
        ends("lib.java folder", State.DONE, here.folder().toString());
        assertEquals(1, run.err().lines().filter(l -> l.contains("building jobs/lib.java")).count(), "compiled once: " + run.err());
    }

    @Test void in_java_that_halts_or_throws_fails() {
        ends("lib.java halt", State.FAILED, "exit 7");
        ends("lib.java throw", State.FAILED, "exit 1: Exception in thread \"main\" java.lang.IllegalStateException: no such picture");
        assertTrue(new String(log("lib.java throw")).contains("at lib.main("), "the log has the whole trace");
    }

    @Test void in_java_with_neither_a_main_nor_a_job_fails_at_once() {
        ends("nomain.java", State.FAILED, "jobs/nomain.java: has no main method and does not implement sloth.Job");
        assertEquals("added claimed failed", here.events(job("nomain.java").id()));
    }

    @Test void with_a_run_bit_is_executed_as_it_is() {
        ends("run-bit.sh", State.DONE, here.folder().resolve("jobs/run-bit.sh").toString());
        ends("binary -n", State.DONE, "a  b");
        assertEquals("a  b", new String(log("binary -n")));
    }

    @Test void without_a_run_bit_is_handed_to_its_interpreter() {
        ends("no-run-bit.sh 'a b'", State.DONE, here.folder().resolve("jobs/no-run-bit.sh") + " -e a b");
        assumeTrue(Guard.which("python3") != null, "no python3 here");
        ends("script.py", State.DONE, "python []");
    }

    @Test void with_windows_line_ends_in_its_first_line_is_refused_and_told_why() {
        run.exits(1).says("jobs/windows.sh:1: the #! line ends as on Windows");
        assertTrue(here.jobs().stream().noneMatch(j -> "windows.sh".equals(j.job())));
    }

    @Test void in_jshell_runs_and_fails_with_its_line() {
        ends("good.jsh", State.DONE, "0 42");
        ends("throws.jsh", State.FAILED, "exit 1: begun");
        ends("wrong.jsh", State.FAILED, "gave up (exit 65): jobs/wrong.jsh:3: error: incompatible types: int cannot be converted to java.lang.String");
        assertTrue(new String(log("throws.jsh")).contains("jobs/throws.jsh:3: "), new String(log("throws.jsh")));
        assertFalse(new String(log("throws.jsh")).contains("never"));
    }

    @Test void in_markdown_is_never_discovered_but_can_be_added() {
        ends("notes.md", State.DONE, "from the notes");
        assertEquals(1, here.jobs().stream().filter(j -> "notes.md".equals(j.job())).count());
    }

    @Test void may_be_a_command_whose_words_no_shell_sees() {
        assertEquals("a b||$HOME|*|", new String(log("printf")));
    }

    /** Somebody else builds, or a dependency is on its way: the job's own time begins with the job. */
    @Test void has_its_timeout_and_its_stall_for_itself_not_for_being_built() throws IOException {
        Path lock = here.folder().resolve(".slothq/cache/lock");
        here.file("jobs/quick.java", """
            //JOB run=added attempts=1 timeout=3s stall=3s
            class quick {
                public static void main(String... args) throws Exception {
                    Thread.sleep(300);
                    System.out.println("quick");
                }
            }
            """);
        here.slothq("add", "quick").exits(0);
        Cli.Live late;
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            channel.lock();
            late = here.start("run", "quick");
            here.untilJob(job("quick.java").id(), State.CLAIMED);
            Cli.pause(Duration.ofMillis(3300));
        }
        late.ends();
        ends("quick.java", State.DONE, "quick");
    }
}
