///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 17+
//DEPS org.junit:junit-bom:6.1.3@pom
//DEPS org.junit.jupiter:junit-jupiter
//DEPS org.junit.platform:junit-platform-console
//SOURCES ../slothq.java
//SOURCES sloth/*.java

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.platform.console.ConsoleLauncher;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import sloth.Terminal;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Runs the specification: {@code ./jbang tests/tests.java}, or only what has a word in its class or method,
 * {@code ./jbang tests/tests.java Lease}. The last line counts; exit 1 when a test failed or none was found.
 *
 * <p>The BOM stands first: sqlite-jdbc brings an older one, and the first one wins.
 */
public class tests {

    public static void main(String... words) throws Exception {
        // JUnit looks through the folders of the class path by itself, not through jars: it is told of this one.
        Path own = Path.of(tests.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> options = new ArrayList<>(List.of("execute", "--disable-banner", "--fail-if-no-tests", "--scan-classpath=" + own,
            "--config=junit.jupiter.displayname.generator.default=org.junit.jupiter.api.DisplayNameGenerator$ReplaceUnderscores"));
        // Tests with processes wait for them most of the time; they say so themselves, and wait together. All others run
        // one after another.
        List.of("enabled=true", "config.strategy=fixed", "config.fixed.parallelism=4", "config.executor-service=WORKER_THREAD_POOL")
            .forEach(c -> options.add("--config=junit.jupiter.execution.parallel." + c));
        for (String word : words) {
            options.add("--include-methodname=.*" + word + ".*");
        }
        Terminal terminal = new Terminal();
        if (!terminal.isTty() || System.getenv("NO_COLOR") != null) {
            options.add("--disable-ansi-colors");
        }
        PrintWriter out = new PrintWriter(terminal.out, true, UTF_8);
        var result = ConsoleLauncher.run(out, new PrintWriter(terminal.err, true, UTF_8), options.toArray(String[]::new));
        Optional<TestExecutionSummary> summary = result.getValue().map(TestExecutionSummary.class::cast);
        summary.ifPresent(s -> out.println(count(s)));
        System.exit(result.getExitCode() == 0 ? 0 : 1);
    }

    /** A class that fails as a whole (in its @BeforeAll) counts as one failure. */
    private static String count(TestExecutionSummary s) {
        long skipped = s.getTestsSkippedCount() + s.getTestsAbortedCount();
        return s.getTestsSucceededCount() + " passed, " + s.getTotalFailureCount() + " failed"
            + (skipped == 0 ? "" : ", " + skipped + " skipped");
    }
}
