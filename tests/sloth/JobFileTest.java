package sloth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A job file")
class JobFileTest {

    @TempDir(factory = QueueFixture.InMemory.class) Path root;
    private QueueFolder folder;

    @BeforeEach void makeJobs() throws IOException {
        folder = new QueueFolder(root);
        Files.createDirectories(folder.jobs());
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.jobs().resolve(name), text);
    }

    private JobFile file(String name, String text) throws IOException {
        return JobFile.read(write(name, text));
    }

    private List<String> found() {
        return JobFile.all(folder).stream().filter(JobFile::isDiscovered).map(JobFile::name).toList();
    }

    private SlothException unknown(String typed) {
        SlothException e = assertThrows(SlothException.class, () -> JobFile.named(folder, typed));
        assertEquals(SlothException.REFUSED, e.exitCode());
        return e;
    }

    @ParameterizedTest(name = "called {0} is of kind {2}", quoteTextArguments = false)
    @CsvSource(delimiter = '|', value = {
        "x.java   | class x { public static void main(String... a) { } }      | JAVA",
        "x.java   | public class x implements sloth.Job { }                    | HOSTED",
        "x.java   | class x implements Runnable, Job { void main() { } }       | HOSTED",
        "x.java   | record x(int n) implements Job { }                         | HOSTED",
        "x.java   | class x implements JobLike { }                             | JAVA",
        "X.JAVA   | class X { }                                                | JAVA",
        "x.kt     | fun main() { }                                             | KOTLIN",
        "x.groovy | println 1                                                  | GROOVY",
        "x.md     | # hello                                                    | MARKDOWN",
        "x.jsh    | int a = 1;                                                 | JSHELL",
        "x.sh     | #!/bin/sh                                                  | SCRIPT",
        "x.py     | #!/usr/bin/env python3                                     | SCRIPT",
        "backup   | #!/bin/sh                                                  | SCRIPT"})
    void is_of_the_kind_that_its_name_and_text_say(String name, String text, JobFile.Kind kind) throws IOException {
        JobFile file = file(name, text);
        assertEquals(kind, file.kind());
        assertNull(file.problem());
    }

    @Test void with_a_run_bit_needs_no_first_line() throws IOException {
        Path binary = write("tool", "\u007fELF");
        assertNull(JobFile.read(binary).kind());
        assertTrue(binary.toFile().setExecutable(true));
        assertEquals(JobFile.Kind.SCRIPT, JobFile.read(binary).kind());
    }

    @Test void that_nobody_could_run_says_what_to_do() throws IOException {
        JobFile notes = file("notes.txt", "buy milk\n");
        assertEquals("jobs/notes.txt: cannot be run: no #! line and no run bit; 'chmod +x' it, or call it _notes.txt to keep it here",
            notes.problem());
        SlothException e = assertThrows(SlothException.class, notes::toAdd);
        assertEquals(notes.problem(), e.getMessage());
    }

    @Test void with_a_wrong_option_is_named_with_its_line() throws IOException {
        JobFile mail = file("mail.sh", "#!/bin/sh\n\n#JOB retry=3\necho\n");
        assertEquals("jobs/mail.sh:3: unknown option 'retry'; did you mean 'attempts'?", mail.problem());
    }

    @Test void with_windows_line_ends_is_refused_only_where_its_interpreter_would_not_be_found() throws IOException {
        assertTrue(file("a.sh", "#!/bin/sh\r\necho\r\n").problem().startsWith("jobs/a.sh:1: the #! line ends as on Windows"));
        assertNull(file("a.java", "//JOB attempts=2\r\nclass a { }\r\n").problem());
    }

    @Test void may_begin_with_a_byte_order_mark() throws IOException {
        assertEquals(2, file("a.java", "\ufeff//JOB attempts=2\nclass a { }").options().attempts());
    }

    @Test void may_have_its_options_below_a_long_licence() throws IOException {
        assertEquals(2, file("a.sh", "#!/bin/sh\n" + "# All rights reserved.\n".repeat(1_000) + "#JOB attempts=2\n").options().attempts());
    }

    @Test void may_be_large_and_binary() throws IOException {
        byte[] bytes = new byte[3 << 20];
        new Random(1).nextBytes(bytes);
        byte[] head = "#!/bin/sh\n#JOB attempts=2\nexit\n".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(head, 0, bytes, 0, head.length);
        Path file = Files.write(folder.jobs().resolve("archive.run"), bytes);
        assertEquals(2, JobFile.read(file).options().attempts());
        assertNull(JobFile.read(file).problem());
    }

    @Test void gives_its_options_to_its_job() throws IOException {
        NewJob job = file("a.sh", "#!/bin/sh\n#JOB attempts=2 priority=5 key=args\n").toAdd().args("x");
        assertEquals("a.sh", job.job());
        assertEquals(2, job.options().attempts());
        assertEquals("a.sh [\"x\"]", job.effectiveKey());
    }

    @Test void has_the_interpreter_of_its_first_line_split_as_the_kernel_does() throws IOException {
        assertEquals(List.of("/bin/sh"), file("a.sh", "#!/bin/sh\n").interpreter());
        assertEquals(List.of("/usr/bin/env", "-S python3 -u"), file("b.py", "#! /usr/bin/env  -S python3 -u \nprint()").interpreter());
        assertEquals(List.of(), file("c.java", "class c { }").interpreter());
    }

    @Test void has_a_digest_of_all_that_it_holds() throws IOException {
        String one = file("a.sh", "#!/bin/sh\necho 1\n").digest();
        assertEquals(one, file("b.sh", "#!/bin/sh\necho 1\n").digest());
        assertNotEquals(one, file("a.sh", "#!/bin/sh\necho 2\n").digest());
        String padding = "#!/bin/sh\n" + "#\n".repeat(200_000);
        assertNotEquals(file("a.sh", padding + "1").digest(), file("a.sh", padding + "2").digest(), "to the last byte");
    }

    // ---- which files count

    @Test void is_found_when_it_lies_directly_in_jobs_in_the_order_of_the_names() throws IOException {
        for (String name : List.of("b.sh", "a.sh", "C.sh", "10.sh", "9.sh")) {
            write(name, "#!/bin/sh\n");
        }
        Files.createDirectories(folder.jobs().resolve("lib"));
        write("lib/hidden.sh", "#!/bin/sh\n");
        assertEquals(List.of("10.sh", "9.sh", "C.sh", "a.sh", "b.sh"), found());
    }

    @ParameterizedTest(name = "called {0} is never discovered", quoteTextArguments = false)
    @ValueSource(strings = {".hidden.sh", "_draft.sh", "a.sh~", "a.sh.bak", "a.sh.orig", "a.sh.tmp", ".a.sh.swp", "README.md", "Notes.MD"})
    void of_some_names_is_never_discovered(String name) throws IOException {
        write(name, "#!/bin/sh\n");
        assertEquals(List.of(), found());
    }

    @Test void that_is_a_link_to_a_file_counts_and_one_to_nowhere_does_not() throws IOException {
        Path real = Files.writeString(root.resolve("real.sh"), "#!/bin/sh\n");
        Files.createSymbolicLink(folder.jobs().resolve("link.sh"), real);
        Files.createSymbolicLink(folder.jobs().resolve("broken.sh"), root.resolve("nosuch"));
        assertEquals(List.of("link.sh"), found());
    }

    @Test void is_not_missed_where_there_is_no_jobs_folder() throws IOException {
        Files.delete(folder.jobs());
        assertEquals(List.of(), JobFile.all(folder));
    }

    // ---- what a person types

    @ParameterizedTest(name = "is meant by {0}", quoteTextArguments = false)
    @ValueSource(strings = {"backup.sh", "backup", "jobs/backup.sh", "jobs/backup"})
    void is_meant_by_its_name_with_or_without_folder_and_extension(String typed) throws IOException {
        write("backup.sh", "#!/bin/sh\n");
        assertEquals("backup.sh", JobFile.named(folder, typed).name());
    }

    @Test void is_meant_by_a_whole_name_before_one_without_its_extension() throws IOException {
        write("a.b", "#!/bin/sh\n");
        write("a.b.sh", "#!/bin/sh\n");
        assertEquals("a.b", JobFile.named(folder, "a.b").name());
    }

    @Test void that_shares_its_stem_must_be_named_in_full() throws IOException {
        write("a.sh", "#!/bin/sh\n");
        write("a.py", "#!/usr/bin/env python3\n");
        assertEquals("'a' could be a.py or a.sh; say which", unknown("a").getMessage());
        write("a.sh.bak", "#!/bin/sh\n");
        Files.delete(folder.jobs().resolve("a.py"));
        assertEquals("a.sh", JobFile.named(folder, "a").name(), "a copy that an editor left does not make it unclear");
    }

    @Test void that_is_never_discovered_can_be_meant_by_its_name() throws IOException {
        write("report.md", "# hello");
        write("_draft.sh", "#!/bin/sh\n");
        assertEquals(JobFile.Kind.MARKDOWN, JobFile.named(folder, "report").kind());
        assertEquals("_draft.sh", JobFile.named(folder, "_draft.sh").name());
    }

    @Test void that_is_not_there_brings_the_nearest_name() throws IOException {
        write("thumbs.java", "class thumbs { }");
        assertEquals("no job file 'thumb.java' in " + folder.jobs() + "; did you mean 'thumbs.java'?", unknown("thumb.java").getMessage());
        assertTrue(unknown("thmbs").getMessage().endsWith("did you mean 'thumbs'?"));
        assertTrue(unknown("zzz").getMessage().endsWith("'slothq jobs' shows those there are"));
    }

    @Test void is_not_looked_for_outside_of_jobs() throws IOException {
        Files.writeString(root.resolve("outside.sh"), "#!/bin/sh\n");
        Files.createDirectories(folder.jobs().resolve("lib"));
        write("lib/x.sh", "#!/bin/sh\n");
        for (String typed : List.of("../outside.sh", "outside.sh", "lib/x.sh", root.resolve("outside.sh").toString(), "", ".", "..")) {
            unknown(typed);
        }
        assertFalse(JobFile.all(folder).stream().anyMatch(f -> f.name().equals("x.sh")));
    }
}
