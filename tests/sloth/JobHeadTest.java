package sloth;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The head of a job file")
class JobHeadTest {

    private static Options read(String text) throws JobHead.Wrong {
        return JobHead.read(text);
    }

    private static void assertWrong(int line, String message, String text) {
        JobHead.Wrong e = assertThrows(JobHead.Wrong.class, () -> read(text));
        assertEquals(line + ": " + message, e.line + ": " + e.getMessage());
    }

    @Test void may_have_no_options() throws Exception {
        assertEquals(Options.DEFAULT, read(""));
        assertEquals(Options.DEFAULT, read("echo hello\n"));
    }

    @Test void has_options_in_the_comments_of_java_and_of_scripts() throws Exception {
        assertEquals(2, read("//JOB attempts=2\nclass x { }").attempts());
        assertEquals(2, read("#!/bin/sh\n#JOB attempts=2\necho hello").attempts());
    }

    @Test void has_several_options_on_a_line_and_several_lines() throws Exception {
        Options o = read("//JOB attempts=2   timeout=5m\n\n//DEPS a:b:1\n//JOB priority=3\tlease=90s \nclass x { }");
        assertEquals(2, o.attempts());
        assertEquals(Duration.ofMinutes(5), o.timeout());
        assertEquals(3, o.priority());
        assertEquals(Duration.ofSeconds(90), o.lease());
    }

    @Test void counts_the_last_word_where_one_is_said_twice() throws Exception {
        assertEquals(3, read("//JOB attempts=2\n//JOB attempts=3\n").attempts());
    }

    @Test void goes_on_over_blank_comment_package_and_import_lines() throws Exception {
        String java = """
            ///usr/bin/env jbang "$0" "$@" ; exit $?
            //DEPS info.picocli:picocli:4.7.7

            /*
             * A licence, with words like attempts=9 in it.
             //JOB attempts=9
             */
            /** One line. */
            package x;
            import java.util.List;
            import static java.util.Map.of;
            //JOB attempts=2
            class x { }
            """;
        assertEquals(2, read(java).attempts());
        assertEquals(2, read("#!/usr/bin/env lua\n-- a comment\n#JOB attempts=2\n").attempts());
    }

    @Test void may_have_windows_line_ends_and_indented_lines() throws Exception {
        assertEquals(2, read("//DEPS x:y:1\r\n  //JOB attempts=2\r\nclass x { }\r\n").attempts());
        assertEquals(2, read("//JOB attempts=2").attempts());
    }

    @Test void ends_with_the_first_code_and_options_after_it_are_an_error() {
        assertWrong(3, "this JOB line stands after the first code; move it to the head of the file",
            "#!/bin/sh\nset -e\n#JOB attempts=2\n");
    }

    @Test void leaves_comments_in_the_code_alone() throws Exception {
        assertEquals(Options.DEFAULT, read("#!/bin/sh\nset -e\n#JOB offers: see the list\n    #JOB attempts=2\ncat <<X\n"));
    }

    @ParameterizedTest(name = "is not silent about \"{0}\"", quoteTextArguments = false)
    @ValueSource(strings = {"// JOB attempts=2", "# JOB attempts=2", "//job attempts=2", "#Job attempts=2",
        "//JOB: attempts=2", "# job: attempts=2"})
    void is_not_silent_about_a_line_that_was_plainly_meant(String line) {
        assertWrong(1, "'" + line + "' is not read; write it as " + (line.startsWith("#") ? "#JOB" : "//JOB") + " key=value", line + "\n");
    }

    @ParameterizedTest(name = "passes over \"{0}\"", quoteTextArguments = false)
    @ValueSource(strings = {"// job: see below", "# jobs=3 is too many", "//JOBS attempts=2", "// a JOB attempts=2",
        "#JOB", "//JOB   "})
    void passes_over_what_is_only_a_comment(String line) throws Exception {
        assertEquals(Options.DEFAULT, read(line + "\n"));
    }

    @Test void names_the_line_of_an_error() {
        assertWrong(3, "unknown option 'retry'; did you mean 'attempts'?", "//DEPS a:b:1\n\n//JOB retry=3\n");
        assertWrong(2, "'fast' is not an option; write key=value, for example attempts=4", "#!/bin/sh\n#JOB attempts=2 fast\n");
        assertWrong(1, "'=2' is not an option; write key=value, for example attempts=4", "//JOB =2\n");
        assertWrong(1, "attempts= is not a whole number from 1 to 1000000", "//JOB attempts=\n");
    }

    @Test void is_soon_read_however_long_the_file_is() throws Exception {
        String text = "#JOB attempts=2\n" + "# a long comment line that goes on and on\n".repeat(100_000);
        assertEquals(2, read(text).attempts());
        assertTrue(text.length() > 4_000_000);
    }
}
