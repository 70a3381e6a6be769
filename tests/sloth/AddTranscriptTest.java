package sloth;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("add")
class AddTranscriptTest {

    @RegisterExtension final Cli here = new Cli();

    @Test void hands_a_commands_words_on_as_they_are() {
        here.process("add", "--", "sh", "-c", "echo \"$1|$2|$3\"", "x", "a b", "", "ü\"$").exits(0).prints("1").quietly();
        here.slothq("run").exits(0);
        here.slothq("log", "1").exits(0).prints("a b||ü\"$").quietly();
        assertEquals("a b||ü\"$", here.job(1).message());
    }

    @Test void finds_a_command_that_is_a_path_from_the_queue_folder() {
        here.file("tool.sh", "#!/bin/sh\necho tool\n").toFile().setExecutable(true);
        here.slothq("add", "--", "./tool.sh").exits(0);
        here.slothq("run").exits(0).hasLine("done", "1 ./tool.sh", "tool");
    }

    @Test void hands_a_files_arguments_on_as_they_are_its_options_too() {
        here.sh("thumbs", "#JOB run=added", "for a; do echo \"<$a>\"; done");
        here.slothq("add", "thumbs", "--small", "-x", "a b", "", "*", "line\nbreak").exits(0).prints("1");
        here.slothq("add", "thumbs", "--", "--priority", "--json").exits(0).prints("2");
        here.slothq("run").exits(0);
        here.slothq("log", "1").prints("<--small>", "<-x>", "<a b>", "<>", "<*>", "<line", "break>");
        here.slothq("log", "2").prints("<--priority>", "<--json>");
    }

    @Test void finds_a_file_by_its_name_with_or_without_what_stands_behind_the_dot() {
        here.sh("a", "true");
        here.sh("twin", "true");
        here.file("jobs/twin.py", "#!/usr/bin/env python3\n");
        here.slothq("add", "a").exits(0).prints("1");
        here.slothq("add", "a.sh").exits(0).prints("2");
        here.slothq("add", "jobs/a.sh").exits(0).prints("3");
        here.slothq("add", "twin").refuses("'twin' could be twin.py or twin.sh");
        here.slothq("add", "twin.sh").exits(0).prints("4");
    }

    @Test void with_a_key_gives_the_job_that_holds_it() {
        here.slothq("add", "--key", "backup", "--", "true").exits(0).prints("1");
        here.slothq("add", "--key", "backup", "--", "false").exits(0).prints("1");
        assertEquals(1, here.jobs().size());
        here.slothq("run").exits(0);
        here.slothq("add", "--key", "backup", "--", "true").exits(0);
        assertEquals(List.of(State.DONE, State.PENDING), here.jobs().stream().map(JobRecord::state).toList());
    }

    @Test void with_key_args_holds_the_file_and_its_arguments() {
        here.sh("fetch", "#JOB run=added key=args", "true");
        here.slothq("add", "fetch", "a").prints("1");
        here.slothq("add", "fetch", "b").prints("2");
        here.slothq("add", "fetch", "a").prints("1");
        here.file("lines", "a\nc\n");
        here.slothq("add", "--json", "--each", here.folder().resolve("lines").toString(), "fetch").exits(0)
            .prints("{\"batch\":1,\"added\":1,\"existing\":1}");
        here.slothq("add", "fetch", "a", "c").exits(0);
        assertEquals(List.of(List.of("a"), List.of("b"), List.of("c"), List.of("a", "c")),
            here.jobs().stream().map(JobRecord::args).toList());
    }

    @Test void each_makes_a_job_of_each_line_of_a_file() {
        here.sh("each", "#JOB run=added", "true");
        here.file("lines", "one\r\n\r\n two  words \n\nü\r\nlast");
        String lines = here.folder().resolve("lines").toString();
        here.slothq("add", "--json", "--each", lines, "each", "first").exits(0).prints("{\"batch\":1,\"added\":4,\"existing\":0}");
        assertEquals(List.of(List.of("first", "one"), List.of("first", " two  words "), List.of("first", "ü"), List.of("first", "last")),
            here.jobs().stream().map(JobRecord::args).toList());
        assertEquals(List.of(1L, 1L, 1L, 1L), here.jobs().stream().map(JobRecord::batch).toList());
    }

    @Test void each_reads_stdin_where_a_dash_stands() {
        here.start("add", "--json", "--each", "-", "--", "echo").types("a b\r\n\nc".getBytes(StandardCharsets.UTF_8)).ends()
            .exits(0).prints("{\"batch\":1,\"added\":2,\"existing\":0}");
        assertEquals(List.of(List.of("echo", "a b"), List.of("echo", "c")), here.jobs().stream().map(JobRecord::command).toList());
    }

    @Test void each_adds_all_lines_or_none() {
        here.file("lines", "good\nbad\0line\n");
        here.slothq("add", "--each", here.folder().resolve("lines").toString(), "--", "echo").refuses("NUL");
        assertEquals(List.of(), here.jobs());
    }

    @Test void in_and_at_keep_a_job_until_then() {
        long before = System.currentTimeMillis();
        here.slothq("add", "--in", "1h30m", "--", "true").exits(0);
        here.slothq("add", "--at", "2099-12-01T09:00:00+01:00", "--", "true").exits(0);
        here.slothq("add", "--at", "03:00", "--", "true").exits(0);
        long ahead = here.job(1).notBefore() - before;
        assertTrue(ahead >= 5_400_000 && ahead < 5_460_000, "in 1h30m: " + ahead);
        assertEquals(Instant.parse("2099-12-01T08:00:00Z").toEpochMilli(), here.job(2).notBefore());
        Instant three = Instant.ofEpochMilli(here.job(3).notBefore());
        assertEquals(LocalTime.of(3, 0), three.atZone(ZoneId.systemDefault()).toLocalTime());
        Duration wait = Duration.between(Instant.ofEpochMilli(before), three);
        assertTrue(!wait.isNegative() && wait.toHours() < 25, "the next 03:00 is " + three);
    }

    @Test void at_refuses_a_time_that_the_clock_skips() {
        here.start(Map.of("TZ", "Europe/Berlin"), "add", "--at", "2027-03-28 02:30", "--", "true").ends()
            .refuses("does not exist in Europe/Berlin");
        assertEquals(Map.of("", "folder"), here.everything());
    }

    @Test void priority_and_attempts_are_the_jobs_own() {
        here.sh("a", "#JOB run=added attempts=2 priority=1", "true");
        here.slothq("add", "a").prints("1");
        here.slothq("add", "--priority", "5", "--attempts", "9", "a").prints("2");
        here.slothq("add", "--priority", "-1", "--", "true").prints("3");
        assertEquals(2, here.job(1).options().attempts());
        assertEquals(9, here.job(2).options().attempts());
        assertEquals(List.of("2", "1", "3"), here.slothq("run").exits(0).out().lines().filter(l -> l.startsWith("done"))
            .map(l -> l.split(" +")[1]).toList());
    }
}
