package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** When changed files are taken up. */
@DisplayName("A watch over jobs/")
class WatchTest {

    @TempDir Path root;
    private Path jobs;
    private Watch watch;

    @BeforeEach void begin() throws IOException {
        jobs = Files.createDirectory(root.resolve("jobs"));
        Files.writeString(jobs.resolve("a.sh"), "true\n");
        watch = new Watch(new QueueFolder(root));
    }

    private boolean hasSettledAt(double seconds) {
        return watch.hasSettled((long) (seconds * 1e9));
    }

    @Test void waits_until_a_new_file_has_been_still_for_two_seconds() throws IOException {
        assertFalse(hasSettledAt(10));
        Files.writeString(jobs.resolve("b.sh"), "tr");
        assertFalse(hasSettledAt(11));
        Files.writeString(jobs.resolve("b.sh"), "true\n");
        assertFalse(hasSettledAt(12.5));
        assertFalse(hasSettledAt(14.4), "still for 1.9 s");
        assertTrue(hasSettledAt(14.5));
        assertFalse(hasSettledAt(20), "once for each change");
    }

    @Test void sees_the_others_beside_a_link_that_leads_nowhere() throws IOException {
        for (int i = 0; i < 20; i++) {
            Files.createSymbolicLink(jobs.resolve(".#" + i), Path.of("user@host.1234"));
        }
        assertFalse(hasSettledAt(1));
        assertTrue(hasSettledAt(4), "the links are a change");
        Files.writeString(jobs.resolve("b.sh"), "true\n");
        assertFalse(hasSettledAt(5));
        assertTrue(hasSettledAt(7));
    }
}
