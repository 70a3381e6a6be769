package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A fresh queue in a folder of its own and a clock to move. After each test the ledger must tell what the rows tell. */
abstract class QueueFixture {

    /** In memory where the system has a folder for that: these tests ask about moves, not about disks. */
    static final class InMemory implements TempDirFactory {
        private static final Path MEMORY = Path.of("/dev/shm");

        @Override public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext test) throws IOException {
            return Files.isWritable(MEMORY) ? Files.createTempDirectory(MEMORY, "slothq") : Files.createTempDirectory("slothq");
        }
    }

    @TempDir(factory = InMemory.class) Path root;
    final TestClock clock = new TestClock();
    QueueFolder folder;
    SlothQueue queue;

    @BeforeEach void open() {
        folder = new QueueFolder(root);
        queue = SlothQueue.open(folder, clock);
    }

    @AfterEach void close() {
        assertEquals(List.of(), queue.overview().contradictions(), "jobs that the ledger tells another story of");
        queue.close();
    }

    /** What another process would see; and what is there after a restart. */
    void reopen() {
        queue.close();
        queue = SlothQueue.open(folder, clock);
    }

    static NewJob job(String file) {
        return NewJob.file(file);
    }

    Lease claim() {
        return claim("worker");
    }

    Lease claim(String worker) {
        return queue.claim(worker).orElseThrow(() -> new AssertionError("there was no job to claim"));
    }

    /** As a worker does that knows of all its own claims. */
    List<JobRecord> reclaim(String me) {
        return queue.reclaim(me, job -> true);
    }

    void assertNothingToClaim(String why) {
        queue.claim("anybody").ifPresent(lease -> {
            throw new AssertionError(why + ", but job " + lease.id() + " was handed out");
        });
    }

    JobRecord row(long id) {
        return queue.job(id).orElseThrow();
    }

    State state(long id) {
        return row(id).state();
    }

    /** The names of a job's events, in order. */
    List<String> story(long id) {
        return queue.history(id).stream().map(Event::event).toList();
    }

    Event last(long id) {
        List<Event> history = queue.history(id);
        return history.get(history.size() - 1);
    }
}
