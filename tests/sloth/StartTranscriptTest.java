package sloth;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The first steps in a folder")
class StartTranscriptTest {

    @RegisterExtension final Cli here = new Cli();

    @Test void are_init_new_run_and_status_in_a_folder_of_any_name() throws Exception {
        here.in("my jobs ü");
        here.process("init").exits(0).prints("new queue in " + here.folder()).says("slothq run");
        here.process("new", "hello").exits(0).prints(here.folder().resolve("jobs/hello.java").toString()).quietly();
        here.process("run").exits(0)
            .hasLine("done", "1 hello.java", "hello from hello")
            .hasLine("done", "2 welcome.sh", "hello from welcome")
            .hasLine("2 done");
        here.process("status").exits(0).prints("2 done").quietly();
        assertEquals("*\n", here.read(".slothq/.gitignore"), "the folder stays clean in git");
    }

    @Test void need_a_queue_there_which_init_makes() {
        List<String[]> commands = List.of(new String[] {}, new String[] {"status"}, new String[] {"run"}, new String[] {"run", "hello"},
            new String[] {"add", "hello"}, new String[] {"list"}, new String[] {"show", "1"}, new String[] {"log", "1"},
            new String[] {"log", "1", "-f"}, new String[] {"wait", "1"}, new String[] {"jobs"}, new String[] {"retry", "1"},
            new String[] {"retry", "--failed"}, new String[] {"cancel", "1"}, new String[] {"prune"}, new String[] {"new", "hello"},
            new String[] {"doctor"}, new String[] {"backup", here.folder().resolve("copy.db").toString()}, new String[] {"repl"},
            new String[] {"status", "--json"}, new String[] {"list", "--json"});
        for (String[] command : commands) {
            here.slothq(command).refuses("no queue in " + here.folder(), "'slothq init'");
            assertEquals(Map.of("", "folder"), here.everything(), "after " + List.of(command));
        }
    }

    @Test void may_be_a_look_at_job_files_alone_which_changes_nothing() {
        here.sh("a", "echo a");
        Map<String, String> before = here.everything();
        here.slothq().exits(0).prints("no jobs");
        here.slothq("status").exits(0).prints("no jobs");
        here.slothq("list").exits(0).prints();
        here.slothq("list", "--json").exits(0).prints("[]");
        here.slothq("jobs").exits(0).prints("a.sh  script");
        here.slothq("show", "1").refuses("no job 1");
        here.slothq("log", "1").refuses("no job 1");
        here.slothq("wait", "1").refuses("no job 1");
        here.slothq("doctor").exits(0);
        assertEquals(before, here.everything());
    }

    @Test void may_be_a_look_at_a_used_queue_which_changes_nothing_either() {
        here.sh("a", "echo a");
        here.slothq("run").exits(0);
        Map<String, String> before = here.everything();
        for (String look : List.of("status", "list", "show 1", "log 1", "wait 1", "jobs", "doctor")) {
            here.slothq(look.split(" ")).exits(0);
            assertEquals(before.keySet(), here.everything().keySet(), "files after " + look);
        }
        assertEquals(before, here.everything());
    }

    @Test void may_be_a_command_to_run() {
        here.slothq("add", "--", "true").exits(0).prints("1").quietly();
        assertTrue(here.has(".slothq/queue.db"));
        assertFalse(here.has("jobs"), "jobs/ is the user's to make");
        here.slothq("run").exits(0).hasLine("done", "1 true").hasLine("1 done");
    }

    @Test void leave_job_files_alone_that_are_there_already() {
        here.sh("a", "echo a");
        here.slothq("init").exits(0).prints("queue in " + here.folder()).says("as it was");
        assertFalse(here.has("jobs/welcome.sh"));
        here.slothq("init").exits(0);
        here.slothq("run").exits(0).hasLine("1 done");
    }

    @Test void name_the_folder_before_the_command_or_after_it() {
        here.process("-C", "nosuch", "status").refuses("no folder " + here.folder().resolve("nosuch"));
        here.file("lane/jobs/a.sh", "#!/bin/sh\npwd\n");
        String lane = here.folder().resolve("lane").toString();
        here.process("-C", "lane", "add", "a").exits(0).prints("1");
        here.process("run", "-C", "lane").exits(0).hasLine("done", "a.sh", lane);
        assertEquals(List.of("lane"), children(here.folder()));
    }

    @Test void are_refused_where_the_locale_would_change_a_name() throws Exception {
        // The shell writes the ü by its bytes, so that no JVM has a chance to change it before.
        Map<String, String> c = Map.of("LC_ALL", "C");
        Path plain = here.folder();
        here.shell(c, "u=$(printf '\\303\\274'); \"$@\" add -- echo \"$u\"").ends().refuses("not ASCII", "LC_ALL=C.UTF-8");
        here.shell(c, "u=$(printf '\\303\\274'); \"$@\" -C \"$u\" init").ends().refuses("not ASCII", "LC_ALL=C.UTF-8");
        assertEquals(List.of(), children(plain));

        here.in("ü");
        here.start(c, "init").ends().refuses("not ASCII", "LC_ALL=C.UTF-8");
        here.start(c, "add", "--", "true").ends().refuses("not ASCII", "LC_ALL=C.UTF-8");
        assertEquals(List.of(), children(here.folder()));
        assertEquals(List.of("folder", "ü"), children(here.folder().getParent()), "nothing with another name was made");
    }

    private static List<String> children(Path folder) {
        try (var all = Files.list(folder)) {
            return all.map(p -> p.getFileName().toString()).sorted().toList();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
