package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Among some thousand rows each statement that a worker sends again and again finds its own by an index. What is asked
 * about are the statements that were really sent.
 */
@DisplayName("A full queue")
class PlanTest extends QueueFixture {

    private static final int ROWS = 2_000;
    /** The processes that run are few, and so are the lines of one job: these are gone through, and sorted. */
    private static final Set<String> SHORT = Set.of("SCAN p", "SCAN line");
    private static final String SORTS = "USE TEMP B-TREE FOR ORDER BY";

    private RecordingConnection connection;

    @TempDir(factory = InMemory.class) static Path full;

    @BeforeAll static void fill() {
        try (SlothQueue queue = SlothQueue.open(new QueueFolder(full), new TestClock())) {
            queue.addAll("a.sh", IntStream.range(0, ROWS).mapToObj(n -> job("a.sh").args("" + n).key("k" + n)).iterator());
            queue.addAll("b.sh", IntStream.range(0, ROWS).mapToObj(n -> job("b.sh").in(ofSeconds(1_000 + n)).priority(9)).iterator());
            queue.together(() -> {
                for (int n = 0; n < 100; n++) {
                    queue.complete(queue.claim("w").orElseThrow(), "done");
                }
                return null;
            });
        }
    }

    @BeforeEach void openCopy() throws IOException {
        queue.close();
        Files.copy(new QueueFolder(full).database(), folder.database(), REPLACE_EXISTING);
        connect(folder);
    }

    private void connect(QueueFolder to) {
        queue.close();
        queue = new SlothQueue(to, () -> connection = new RecordingConnection(to.database()), clock, QueueFile.Use.MOVES);
        connection.taken();
    }

    private void assertSearches(Runnable moves) throws SQLException {
        moves.run();
        List<String> sent = connection.taken();
        assertFalse(sent.isEmpty(), "nothing was sent");
        for (String sql : sent) {
            for (String step : connection.plan(sql)) {
                boolean fromTheEnd = step.equals("SCAN event") && sql.endsWith("ORDER BY seq DESC LIMIT 1");
                boolean searches = !step.startsWith("SCAN") || fromTheEnd || SHORT.contains(step);
                boolean sortsFew = step.equals(SORTS) && sql.contains("FROM line");
                assertTrue(searches && (sortsFew || !step.contains("TEMP B-TREE")) && !step.contains("AUTOMATIC"),
                    step + " in the plan of\n" + sql);
            }
        }
    }

    /** The plan of the statement with these words, of all that the moves send. */
    private List<String> plan(String words, Runnable moves) throws SQLException {
        connect(folder);
        moves.run();
        return connection.plan(connection.taken().stream().filter(sql -> sql.contains(words)).findFirst()
            .orElseThrow(() -> new AssertionError("no statement was sent with " + words)));
    }

    private static void assertUses(String index, List<String> plan) {
        String use = "(SEARCH|SCAN) job USING (COVERING )?INDEX " + index + "\\b.*";
        assertTrue(plan.stream().anyMatch(step -> step.matches(use)), plan.toString());
    }

    @Test void is_claimed_from_by_index() throws SQLException {
        assertSearches(() -> queue.claim("w").orElseThrow());
        assertUses("job_open", plan("ORDER BY priority DESC, id", () -> queue.claim("w")));
    }

    @Test void is_claimed_from_by_index_for_files_that_were_asked_for() throws SQLException {
        assertUses("job_open", plan("ORDER BY priority DESC, id", () -> queue.claimToRun("w", List.of("a.sh")).orElseThrow()));
    }

    @Test void promotes_what_has_become_due_by_the_index_of_waiting_rows() throws SQLException {
        List<String> plan = plan("SET due = 1", () -> queue.claim("w"));
        assertUses("job_waiting", plan);
        assertTrue(plan.get(0).endsWith("(not_before<?)"), plan.toString());
    }

    @Test void finds_claimed_rows_by_their_own_index() throws SQLException {
        assertUses("job_open", plan("WHERE state = 'claimed' AND", () -> reclaim("w")));
        assertSearches(() -> {
            reclaim("w");
            queue.strays();
            queue.overview().stranded();
        });
    }

    @Test void looks_a_key_up_by_its_index() throws SQLException {
        List<String> plan = plan("WHERE key = ?", () -> queue.add(job("a.sh").key("k1500")));
        assertEquals(List.of("SEARCH job USING INDEX job_key (key=?)"), plan);
    }

    @Test void reads_the_newest_event_from_the_end_of_the_ledger() throws SQLException {
        assertEquals(List.of("SCAN event"), plan("FROM event", () -> queue.overview().newestEvent()), "one row, nothing sorted");
        assertTrue(connection.cost(() -> queue.overview().newestEvent()) < 30);
    }

    @Test void knows_a_job_its_history_and_its_steps_by_number() throws SQLException {
        assertSearches(() -> {
            queue.job(1_500);
            queue.history(1_500);
            queue.steps(1_500);
            queue.processesOf(1_500);
        });
    }

    @Test void is_renewed_told_of_and_ended_by_number() throws SQLException {
        Lease lease = claim();
        Lease other = claim();
        connection.taken();
        assertSearches(() -> {
            queue.heartbeat(lease);
            queue.isHeld(lease);
            queue.progress(lease, new JobRecord.Progress(1, 2L, null));
            queue.keepStep(lease, "s", "1");
            queue.fail(lease, "boom");
            queue.complete(other, "well");
        });
    }

    @Test void knows_when_the_next_job_is_due_and_what_a_file_ran_by_index() throws SQLException {
        assertUses("job_waiting", plan("min(not_before)", () -> queue.overview().nextDue(List.of())));
        assertUses("job_discovered", plan("SELECT content", () -> queue.overview().lastContent("a.sh")));
    }

    @Test void costs_an_add_and_a_cycle_about_what_an_empty_one_costs() throws SQLException {
        Runnable cycle = () -> {
            queue.add(job("c.sh").key("fresh"));
            reclaim("w");
            Lease lease = queue.claimToRun("w", List.of()).orElseThrow();
            queue.heartbeat(lease);
            queue.complete(lease, "done");
        };
        cycle.run();
        long full = connection.cost(cycle);
        connect(new QueueFolder(root.resolve("empty")).prepare());
        cycle.run();
        long empty = connection.cost(cycle);
        assertTrue(full < empty * 3 / 2, full + " instructions among " + 2 * ROWS + " rows, " + empty + " alone");
    }
}
