package sloth;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Whatever cannot be is refused in one line on stderr with exit 2, and changes nothing. */
@DisplayName("Refused in one line:")
class UsageTranscriptTest {

    @RegisterExtension final Cli here = new Cli();

    @TestFactory List<DynamicTest> what_cannot_be() {
        here.sh("thumbs", "#JOB run=added", "true");
        here.sh("bad", "#JOB attempts=0", "true");
        here.file("jobs/plain", "no #! line and no run bit\n");
        here.slothq("add", "--", "true");
        here.slothq("run").exits(1);
        List<DynamicTest> tests = new ArrayList<>();
        for (String[] c : new String[][] {
            {"an unknown id to show", "no job 99", "show", "99"},
            {"an unknown id to log", "no job 99", "log", "99"},
            {"an unknown id to follow", "no job 99", "log", "-f", "99"},
            {"an unknown id to wait for", "no job 99", "wait", "99"},
            {"an unknown id to retry", "no job 99", "retry", "99"},
            {"an unknown id to cancel", "no job 99", "cancel", "99"},
            {"an unknown batch", "no batch 7", "wait", "--batch", "7"},
            {"an id that is no number", "'x'", "show", "x"},
            {"an id beyond all numbers", "99999999999999999999", "show", "99999999999999999999"},
            {"an unknown job, with the nearest name", "no job file 'thumb'|did you mean 'thumbs'?", "add", "thumb"},
            {"an unknown job with an ending", "did you mean 'thumbs.sh'?", "add", "thunbs.sh"},
            {"an unknown job that is like no other", "no job file 'nosuch'|'slothq jobs'", "add", "nosuch"},
            {"an unknown job to run", "did you mean 'thumbs'?", "run", "thumb"},
            {"a job file with a bad option", "jobs/bad.sh:2: attempts=0", "add", "bad"},
            {"a job file that cannot be run", "jobs/plain: cannot be run|chmod +x", "add", "plain"},
            {"an unreadable time", "'tomorrow' is not a time|09:00", "add", "--at", "tomorrow", "--", "true"},
            {"a time that no clock shows", "'25:00' is not a time", "add", "--at", "25:00", "--", "true"},
            {"a time that no file can hold", "is not a time", "add", "--at", "+999999999-01-01T00:00:00Z", "--", "true"},
            {"a day that no month has", "'2026-02-30 09:00' is not a time", "add", "--at", "2026-02-30 09:00", "--", "true"},
            {"a bare number for a duration", "'10' is not a duration|10m", "add", "--in", "10", "--", "true"},
            {"a duration that is none", "'soon' is not a duration", "run", "--patience", "soon"},
            {"a duration below nothing", "'-5m' is not a duration", "prune", "--older=-5m"},
            {"--in with --at", "--in and --at", "add", "--in", "1m", "--at", "09:00", "--", "true"},
            {"--key with --each", "--key cannot stand with --each", "add", "--key", "k", "--each", "-", "--", "true"},
            {"--each without its file", "no file 'nosuch'", "add", "--each", "nosuch", "--", "true"},
            {"an unknown option, with the nearest", "unknown option '--parralel'; did you mean '--parallel'?", "run", "--parralel", "2"},
            {"an unknown option of no command", "unknown option '--jason'; did you mean '--json'?", "--jason", "status"},
            {"an unknown option that is like no other", "unknown option '--frobnicate'", "list", "--frobnicate"},
            {"an unknown command, with the nearest", "unknown command 'statsu'; did you mean 'status'?", "statsu"},
            {"an unknown command that is like no other", "unknown command 'frobnicate'", "frobnicate"},
            {"an unknown state", "'finished'", "list", "--state", "finished"},
            {"an argument too many", "'extra'", "status", "extra"},
            {"no workers at all", "--parallel", "run", "--parallel", "0"},
            {"a parallel that is no number", "'many'", "run", "--parallel", "many"},
            {"a limit below nothing", "--limit", "list", "--limit", "-1"},
            {"a priority that is no number", "'high'", "add", "--priority", "high", "--", "true"},
            {"no attempts at all", "attempts=0", "add", "--attempts", "0", "--", "true"},
            {"add of nothing", "JOB", "add"},
            {"add of nothing behind the dashes", "JOB", "add", "--"},
            {"show of nothing", "ID", "show"},
            {"log of nothing", "ID", "log"},
            {"wait for nothing", "ids", "wait"},
            {"retry of nothing", "--failed", "retry"},
            {"retry of an id and of all that failed", "--failed", "retry", "1", "--failed"},
            {"cancel of nothing", "ID", "cancel"},
            {"new with a word of Java's", "'class' is a word of Java's own", "new", "class"},
            {"new with a class of Java's", "'String' is a word of Java's own", "new", "String"},
            {"new of a kind without a template", "no template for 'foo.py'", "new", "foo.py"},
            {"a key without a letter", "--key is empty", "add", "--key", "", "--", "true"},
            {"a backup into no folder", "no folder", "backup", "nowhere/copy.db"},
            {"new without a name", "NAME", "new"},
            {"new with a name that is no class", "'1st' is no good name", "new", "1st"},
            {"new with a path", "'../x' is no good name", "new", "../x"},
            {"new of two kinds at once", "--sh", "new", "x", "--sh", "--jsh"},
            {"new over a file that is there", "is there already", "new", "thumbs.sh"},
            {"backup without a file", "FILE", "backup"},
            {"retry of a job that is done", "job 1 is done", "retry", "1"},
            {"cancel of a job that is done", "job 1 is done", "cancel", "1"},
            {"a log of an attempt that never was", "no log of attempt 7", "log", "1", "--attempt", "7"},
            {"-C without a folder", "-C", "status", "-C"}}) {
            String[] command = Arrays.copyOfRange(c, 2, c.length);
            tests.add(DynamicTest.dynamicTest(c[0], () -> {
                Map<String, String> before = here.everything();
                here.slothq(command).refuses(c[1].split("\\|"));
                assertEquals(before, here.everything(), "nothing changed");
            }));
        }
        return tests;
    }

    /** As a process of its own: nothing but the line, and the exit code of the JVM. */
    @Test void a_stack_trace_is_shown_only_when_asked_for() {
        here.sh("a", "true");
        here.process("add", "nosuch").refuses("no job file 'nosuch'");
        Cli.Said asked = here.slothq("add", "nosuch", "--debug").exits(2).says("no job file 'nosuch'");
        assertTrue(asked.err().contains("\tat "), asked.err());
    }

    @Test void the_help_of_each_command_is_no_error() {
        here.slothq("--help").exits(0).quietly().hasLine("A patient job queue for one folder");
        here.slothq("add", "--help").exits(0).quietly().hasLine("slothq add [OPTIONS] -- CMD [ARG...]");
        here.slothq("--version").exits(0).quietly().hasLine("slothq 0.");
    }

    @Test void a_pipe_gets_no_escape_codes() {
        here.sh("a", "echo a");
        here.sh("b", "#JOB attempts=1", "exit 1");
        here.sh("c", "#JOB retries=1");
        for (String command : List.of("jobs", "run", "status", "list", "show 1", "show 2", "doctor", "--help", "nosuch", "show 9")) {
            Cli.Said said = here.slothq(command.split(" "));
            assertFalse(said.toString().contains("\u001b"), "after " + command + ": " + said);
        }
    }
}
