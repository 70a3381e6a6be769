package sloth;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The {@code jbang} wrapper beside a JDK, a Maven and a JBang that are scripts of ours: nothing is fetched. PATH has the
 * wrapper's tools and no more, so that a JBang of this machine is not found.
 */
@DisplayName("The jbang wrapper")
class WrapperTest {

    private static final List<String> TOOLS = List.of("sh", "cat", "locale", "readlink", "wc", "mkdir", "mktemp", "rm", "mv",
        "flock", "sha256sum", "shasum", "cksum");
    /** Answers as {@code java -jar jbang.jar} does: prints the command to run, with the words as it got them, and exits 255. */
    private static final String JAVA = """
        #!/bin/sh
        while [ "$1" != -jar ]; do shift; done
        shift 2
        [ ! -e "$HOME/answer" ] || { cat "$HOME/answer"; exit $(cat "$HOME/code"); }
        [ "$1" != run ] || shift
        echo asked >>"$HOME/asked"
        printf "sh '%s' -classpath '%s'" "$HOME/program" "$HOME/classes of it:$HOME/program"
        for word; do printf ' %s' "$word"; done
        exit 255
        """;
    /** Brings something else under the name that was asked for. */
    private static final String MAVEN = """
        #!/bin/sh
        for word; do
          case $word in -Dartifact=dev.jbang:jbang-cli:*) version=${word#*jbang-cli:};; esac
        done
        echo not JBang >"jbang-cli-${version%%:*}-all.jar"
        """;
    private static final String PROGRAM = """
        shift 2
        for word; do printf '<%s>\\n' "$word"; done
        echo "LC_ALL=$LC_ALL" >&2
        echo "JBANG=$JBANG_RUNTIME_SHELL$JBANG_STDIN_NOTTY$JBANG_LAUNCH_CMD" >&2
        exit 42
        """;

    @TempDir Path home;
    private Path wrapper;
    private final Map<String, String> environment = new HashMap<>();

    @BeforeEach void install() throws IOException {
        Path original = project().resolve("jbang");
        for (String tool : TOOLS) {
            Path found = Guard.which(tool);
            if (found != null) {
                script("bin/" + tool, "#!/bin/sh\nexec " + found.toAbsolutePath() + " \"$@\"\n");
            }
        }
        wrapper = Files.copy(original, Files.createDirectory(home.resolve("project")).resolve("jbang"), StandardCopyOption.COPY_ATTRIBUTES);
        // It tells a whole jar by its length.
        String bytes = Files.readAllLines(original).stream().filter(l -> l.matches("\\w*bytes=\\d+")).findFirst().orElseThrow();
        Path jar = Files.createDirectory(home.resolve("project/.jbang")).resolve("jbang.jar");
        try (var file = new RandomAccessFile(jar.toFile(), "rw")) {
            file.setLength(Long.parseLong(bytes.replaceFirst(".*=", "")));
        }
        jdk("17.0.9");
        script("jdk/bin/java", JAVA);
        script("jdk/bin/javac", "#!/bin/sh\n");
        script("program", PROGRAM);
        Files.createDirectory(home.resolve("classes of it"));
        environment.put("PATH", home.resolve("bin").toString());
        environment.put("HOME", home.toString());
        environment.put("JAVA_HOME", home.resolve("jdk").toString());
        environment.put("LC_ALL", "C.UTF-8");
    }

    private static Path project() {
        Path folder = Path.of("").toAbsolutePath();
        while (folder != null && !(Files.exists(folder.resolve("slothq.java")) && Files.exists(folder.resolve("jbang")))) {
            folder = folder.getParent();
        }
        assumeTrue(folder != null, "the tests do not run from within the project");
        return folder;
    }

    private void jdk(String version) throws IOException {
        Files.createDirectories(home.resolve("jdk/bin"));
        Files.writeString(home.resolve("jdk/release"), "IMPLEMENTOR=\"Somebody\"\nJAVA_VERSION=\"" + version + "\"\n");
    }

    private void script(String name, String text) throws IOException {
        Files.createDirectories(home.resolve(name).getParent());
        Files.writeString(home.resolve(name), text).toFile().setExecutable(true);
    }

    private record Said(int code, String out, String err) {
    }

    private Said jbang(String... args) throws Exception {
        return started(wrapper, args);
    }

    private Said started(Path script, String... args) throws Exception {
        List<String> command = new java.util.ArrayList<>(List.of(script.toString()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).directory(home.toFile()).redirectError(home.resolve("err").toFile())
            .redirectOutput(home.resolve("out").toFile());
        builder.environment().clear();
        builder.environment().putAll(environment);
        Process process = builder.start();
        process.getOutputStream().close();
        try {
            assertTrue(process.waitFor(30, TimeUnit.SECONDS), "it does not end");
        } finally {
            process.destroyForcibly();
        }
        return new Said(process.exitValue(), Files.readString(home.resolve("out")), Files.readString(home.resolve("err")));
    }

    private void refuses(int code, String words) throws Exception {
        Said said = jbang("x.java");
        assertEquals(code, said.code, said.err);
        assertEquals("", said.out);
        assertTrue(said.err.matches("(jbang: fetching .*\n)?jbang: [^\n]*\n") && said.err.contains(words), said.err);
    }

    @Test void hands_a_scripts_empty_arguments_and_those_with_an_at_on_and_its_exit_code_back() throws Exception {
        Said said = jbang("x.java", "", "@nosuch", "plain", "");
        assertEquals("<x.java>\n<>\n<@nosuch>\n<plain>\n<>\n", said.out);
        assertEquals(42, said.code);
    }

    @Test void gives_the_script_a_locale_that_keeps_its_letters_and_no_settings_of_its_own() throws Exception {
        for (String locale : List.of("C", "POSIX", "no_SUCH.UTF-8")) {
            environment.put("LC_ALL", locale);
            assertEquals("LC_ALL=C.UTF-8\nJBANG=\n", jbang("x.java").err, "from " + locale);
        }
        environment.put("LC_ALL", "C.UTF-8");
        assertEquals("LC_ALL=C.UTF-8\nJBANG=\n", jbang("run", "x.java").err);
    }

    @Test void shows_what_JBang_itself_answers() throws Exception {
        Files.writeString(home.resolve("answer"), "0.132.1\n");
        Files.writeString(home.resolve("code"), "3");
        assertEquals(new Said(3, "0.132.1\n", ""), jbang("version"));
    }

    @Test void leaves_the_work_to_a_jbang_on_PATH_but_not_to_a_copy_of_itself() throws Exception {
        Files.createDirectory(home.resolve("copy"));
        Files.copy(wrapper, home.resolve("copy/jbang"), StandardCopyOption.COPY_ATTRIBUTES);
        environment.put("PATH", home.resolve("copy") + ":" + home.resolve("bin"));
        assertEquals(42, jbang("x.java").code);
        script("real/jbang", "#!/bin/sh\nprintf '[%s]' \"$@\"\nexit 7\n");
        environment.put("PATH", home.resolve("copy") + ":" + home.resolve("real") + ":" + home.resolve("bin"));
        assertEquals(new Said(7, "[x.java][a b][]", ""), jbang("x.java", "a b", ""));
    }

    @Test void works_through_a_link() throws Exception {
        Path link = Files.createSymbolicLink(home.resolve("bin/j"), wrapper);
        assertEquals("<x.java>\n", started(link, "x.java").out);
    }

    private int timesAsked() throws IOException {
        Path asked = home.resolve("asked");
        return Files.exists(asked) ? Files.readAllLines(asked).size() : 0;
    }

    private void assertAsks(boolean again, String why, String... args) throws Exception {
        int before = timesAsked();
        Said said = jbang(args);
        assertEquals("<" + String.join(">\n<", args) + ">\n", said.out, why);
        assertEquals(42, said.code, why);
        assertEquals(before + (again ? 1 : 0), timesAsked(), why);
    }

    @Test void keeps_the_command_of_slothq_while_it_is_made_of_the_same() throws Exception {
        String slothq = Files.writeString(home.resolve("project/slothq.java"), "// a").toString();
        script("project/lib/sloth/Worker.java", "// b");
        assertAsks(true, "the first time", slothq, "status");
        assertAsks(false, "again, with other arguments", slothq, "add", "", "@file", "a  b", "$HOME\"'`");
        assertAsks(false, "without arguments", slothq);
        assertEquals("<" + slothq + ">\n", started(Path.of("project/jbang"), "project/slothq.java").out);
        assertEquals(1, timesAsked(), "from another folder");
        Files.setLastModifiedTime(Files.writeString(home.resolve("project/lib/sloth/Worker.java"), "// c"), FileTime.fromMillis(0));
        assertAsks(true, "a source is another one, though it looks old", slothq, "status");
        script("project/lib/sloth/More.java", "// d");
        assertAsks(true, "there is one more source", slothq, "status");
        jdk("21.0.1");
        assertAsks(true, "another JDK", slothq, "status");
        Files.delete(home.resolve("classes of it"));
        assertAsks(true, "its jar is gone", slothq, "status");
        Files.createDirectory(home.resolve("classes of it"));
        environment.put("JBANG_REPO", "/elsewhere");
        assertAsks(true, "JBang has settings", slothq, "status");
        environment.remove("JBANG_REPO");
        assertAsks(false, "and has none", slothq, "status");
    }

    @Test void keeps_no_other_command_and_none_that_JBang_did_not_give() throws Exception {
        String slothq = Files.writeString(home.resolve("project/slothq.java"), "// a").toString();
        for (int i = 0; i < 2; i++) {
            assertAsks(true, "another script", "x.java");
            assertEquals("<" + slothq + ">\n", jbang("run", slothq).out);
            assertEquals(2 * i + 2, timesAsked(), "a command of JBang's");
        }
        Files.writeString(home.resolve("answer"), "does not compile\n");
        Files.writeString(home.resolve("code"), "1");
        assertEquals(new Said(1, "does not compile\n", ""), jbang(slothq, "status"));
        Files.delete(home.resolve("answer"));
        assertAsks(true, "mended", slothq, "status");
    }

    @Test void says_in_a_line_which_JDK_it_lacks() throws Exception {
        jdk("1.8.0_392");
        refuses(2, "is too old: a JDK 17 or newer is needed");
        jdk("25");
        Files.delete(home.resolve("jdk/bin/javac"));
        refuses(2, "has no compiler (javac)");
        environment.remove("JAVA_HOME");
        refuses(2, "no java in JAVA_HOME or on PATH");
    }

    @Test void says_in_a_line_that_it_needs_mvn_to_fetch_JBang() throws Exception {
        Files.delete(home.resolve("project/.jbang/jbang.jar"));
        refuses(2, "neither jbang nor mvn is on PATH");
    }

    @Test void does_not_keep_what_is_not_JBang() throws Exception {
        Files.writeString(home.resolve("project/.jbang/jbang.jar"), "half of it");
        script("bin/mvn", MAVEN);
        Said said = jbang("x.java");
        assertEquals(1, said.code);
        assertTrue(said.err.contains("what mvn brought is not JBang"), said.err);
        try (Stream<Path> left = Files.list(home.resolve("project/.jbang"))) {
            assertEquals(List.of("jbang.jar"), left.map(p -> p.getFileName().toString()).toList(), "no temporary files");
        }
        assertEquals("half of it", Files.readString(home.resolve("project/.jbang/jbang.jar")));
        script("bin/mvn", "#!/bin/sh\necho '[ERROR] no network -> [Help 1]'\nexit 1\n");
        said = jbang("x.java");
        assertTrue(said.err.matches("(?s).*\njbang: mvn could not fetch JBang [^\n]*: no network\n"), said.err);
    }
}
