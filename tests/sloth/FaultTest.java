package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sloth.FaultyConnection.Fault;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Lets the database fail at the nth call of a move, for each n until the move gets through, in each way that it can. Then
 * the file is opened afresh: it stands before the move or after it, never between; a move that was reported as done is
 * there; one that was reported as failed is not, unless the disk went for good in the middle of the commit.
 */
@DisplayName("A disk that fails in the middle")
class FaultTest {

    private static final int CALLS_MOST = 200;

    /** What stands in the file before the move. @return the lease that the move is about, null for none */
    private interface Before {
        Lease prepare(SlothQueue queue, TestClock clock);
    }

    private interface Act {
        void on(SlothQueue queue, Lease lease);
    }

    /** @param tells whether the move writes into the ledger, so that an unsure commit can be looked up there */
    private record Scenario(String name, boolean tells, Before before, Act act) {
        @Override public String toString() {
            return name;
        }
    }

    static Stream<Scenario> scenarios() {
        Before pending = (q, clock) -> nothing(q.add(job()));
        Before claimed = (q, clock) -> claimed(q);
        Before done = (q, clock) -> nothing(q.complete(claimed(q), "done"));
        return Stream.of(
            tells("an add", (q, clock) -> null, (q, lease) -> q.add(job().key("today"))),
            // Nothing is written: it gives the job that is there.
            new Scenario("an add whose key is held", false, (q, clock) -> claimed(q), (q, lease) -> q.add(job().key("key"))),
            tells("a batch", (q, clock) -> null, (q, lease) -> q.addAll("a.sh", List.of(job().args("1"), job().args("2")).iterator())),
            tells("a claim", pending, (q, lease) -> q.claim("next").orElseThrow()),
            tells("a claim with processes", pending, (q, lease) -> q.claimToRun("next", List.of()).orElseThrow()),
            tells("a claim that takes back, promotes and clamps", FaultTest::muchToDo, (q, lease) -> q.claim("next").orElseThrow()),
            new Scenario("a heartbeat", false, (q, clock) -> later(claimed(q), clock), (q, lease) -> assertTrue(q.heartbeat(lease))),
            tells("a completion", claimed, (q, lease) -> assertTrue(q.complete(lease, "done"))),
            tells("a failure that is retried", claimed, (q, lease) -> assertTrue(q.fail(lease, "boom"))),
            tells("a failure for good", claimed, (q, lease) -> assertTrue(q.giveUp(lease, "boom", Map.of()))),
            tells("a not now", claimed, (q, lease) -> assertTrue(q.notNow(lease, "no network"))),
            tells("a release", claimed, (q, lease) -> assertTrue(q.release(lease))),
            tells("a word that is refused", (q, clock) -> lost(q, clock), (q, lease) -> assertFalse(q.complete(lease, "late"))),
            tells("a cancel", claimed, (q, lease) -> q.cancel(1)),
            tells("a retry", (q, clock) -> nothing(q.giveUp(claimed(q), "boom", Map.of())), (q, lease) -> q.retry(1, true)),
            tells("a retry of all that failed", FaultTest::twoFailed, (q, lease) -> {
                List<String> passedOver = new ArrayList<>();
                q.retryFailed(false, job -> { }, passedOver::add);
                assertEquals(List.of(), passedOver);
            }),
            tells("a reclaim", (q, clock) -> later(claimed(q), clock), (q, lease) -> q.reclaim("next", job -> true)),
            tells("a reclaim of the last attempt", (q, clock) -> later(claimed(q, 1), clock), (q, lease) -> q.reclaim("next", job -> true)),
            tells("a step", claimed, (q, lease) -> assertTrue(q.keepStep(lease, "upload", "1"))),
            new Scenario("a progress", false, claimed, (q, lease) -> assertTrue(q.progress(lease, new JobRecord.Progress(1, 2L, null)))),
            tells("a prune", done, (q, lease) -> assertEquals(1, q.prune(Duration.ZERO).size())),
            tells("a completion together with the next claim", FaultTest::andAnother, (q, lease) -> q.together(() -> {
                assertTrue(q.complete(lease, "done"));
                return q.claimToRun("worker", List.of()).orElseThrow();
            })),
            tells("a move that meets a clock set back", FaultTest::setBack, (q, lease) -> assertTrue(q.complete(lease, "done"))));
    }

    private static Scenario tells(String name, Before before, Act act) {
        return new Scenario(name, true, before, act);
    }

    private static NewJob job() {
        return NewJob.file("a.sh");
    }

    private static Lease claimed(SlothQueue queue) {
        return claimed(queue, 2);
    }

    private static Lease claimed(SlothQueue queue, int attempts) {
        queue.add(job().key("key").attempts(attempts));
        Lease lease = queue.claimToRun("worker", List.of()).orElseThrow();
        queue.keepStep(lease, "download", "1");
        return lease;
    }

    private static Lease later(Lease lease, TestClock clock) {
        clock.pass(ofSeconds(60));
        return lease;
    }

    private static Lease lost(SlothQueue queue, TestClock clock) {
        Lease lease = later(claimed(queue), clock);
        queue.reclaim("next", job -> true);
        return lease;
    }

    private static Lease andAnother(SlothQueue queue, TestClock clock) {
        Lease lease = claimed(queue);
        queue.add(job());
        return lease;
    }

    private static Lease twoFailed(SlothQueue queue, TestClock clock) {
        queue.giveUp(claimed(queue), "boom", Map.of());
        queue.add(job());
        queue.giveUp(queue.claim("worker").orElseThrow(), "boom", Map.of());
        return null;
    }

    private static Lease setBack(SlothQueue queue, TestClock clock) {
        queue.add(job().in(ofSeconds(100)));
        Lease lease = claimed(queue);
        clock.step(ofSeconds(-500));
        return lease;
    }

    private static Lease muchToDo(SlothQueue queue, TestClock clock) {
        queue.add(job().attempts(1));
        queue.add(job());
        queue.claim("gone");
        queue.claim("gone");
        clock.pass(ofSeconds(100));
        queue.add(job().priority(1).in(ofSeconds(10)));
        clock.step(ofSeconds(30));
        queue.steppedForward(ofSeconds(30));
        clock.step(ofSeconds(-10));
        return null;
    }

    private static Lease nothing(Object done) {
        return null;
    }

    @TempDir(factory = QueueFixture.InMemory.class) Path root;
    private final TestClock clock = new TestClock();
    private Lease lease;
    private Path prepared;
    private QueueFolder struck;
    private String before;
    private String after;

    @ParameterizedTest(name = "leaves {0} done or not done") @MethodSource("scenarios")
    void leaves_a_move_done_or_not_done(Scenario scenario) throws Exception {
        prepare(scenario);
        int n = 1;
        for (FaultyConnection.Plan plan = strike(scenario, Fault.REFUSED, n); plan.hasStruck(); plan = strike(scenario, Fault.REFUSED, n)) {
            if (plan.hasStruckAnExecution()) {
                strike(scenario, Fault.ANSWER_LOST, n);
                strike(scenario, Fault.GONE, n);
                strike(scenario, Fault.GONE_AFTERWARDS, n);
            }
            n++;
            assertTrue(n < CALLS_MOST, "a move of more than " + CALLS_MOST + " calls");
        }
        assertTrue(n > 5, "only " + n + " calls were met: does the fault reach the queue?");
    }

    private void prepare(Scenario scenario) throws Exception {
        // One folder throughout: a copied folder would be another queue.
        struck = new QueueFolder(root.resolve("struck"));
        try (SlothQueue queue = SlothQueue.open(struck, clock); Connection eye = Db.connect(struck.database())) {
            lease = scenario.before.prepare(queue, clock);
            before = dump(eye);
        }
        prepared = Files.copy(struck.database(), root.resolve("prepared.db"));
        try (SlothQueue queue = SlothQueue.open(struck, clock); Connection eye = Db.connect(struck.database())) {
            scenario.act.on(queue, lease);
            after = dump(eye);
            assertEquals(List.of(), queue.overview().contradictions());
        }
    }

    private FaultyConnection.Plan strike(Scenario scenario, Fault fault, int n) throws Exception {
        String where = scenario + ", call " + n + ", " + fault;
        copyPrepared();
        FaultyConnection.Plan plan = new FaultyConnection.Plan(fault, n);
        try (SlothQueue queue = new SlothQueue(struck, FaultyConnection.source(struck.database(), plan), clock, QueueFile.Use.MOVES);
             Connection eye = Db.connect(struck.database())) {
            boolean said = act(scenario, queue, plan, where);
            String found = dump(eye);
            assertTrue(found.equals(before) || found.equals(after), () -> where + " stands between before and after:\n" + found);
            if (said) {
                assertEquals(after, found, where + " was reported as done");
            } else if (fault.passes() && scenario.tells) {
                assertEquals(before, found, where + " was reported as failed");
            }
            long events = found.lines().filter(line -> line.startsWith("event ")).count();
            assertEquals(events, queue.ledger().size(), where + ": what the queue itself shows");
            goOn(scenario, queue, found, eye, where);
            assertEquals("ok", eye.createStatement().executeQuery("PRAGMA integrity_check").getString(1), where);
        }
        return plan;
    }

    private boolean act(Scenario scenario, SlothQueue queue, FaultyConnection.Plan plan, String where) {
        plan.arm(true);
        try {
            scenario.act.on(queue, lease);
            return true;
        } catch (SlothException e) {
            assertEquals(SlothException.UNUSABLE, e.exitCode(), where);
            return false;
        } catch (RuntimeException e) {
            throw new AssertionError(where + " is told as a bug, not as a trouble of the disk", e);
        } finally {
            plan.arm(false);
        }
    }

    /** The trouble has passed: the same queue does what it could not do. */
    private void goOn(Scenario scenario, SlothQueue queue, String found, Connection eye, String where) throws SQLException {
        try {
            if (found.equals(before)) {
                scenario.act.on(queue, lease);
                assertEquals(after, dump(eye), where + ", and once more");
            } else {
                queue.add(job());
            }
        } catch (RuntimeException e) {
            throw new AssertionError(where + ": the queue cannot be used any more", e);
        }
    }

    private void copyPrepared() throws IOException {
        Files.copy(prepared, struck.database(), StandardCopyOption.REPLACE_EXISTING);
    }

    /** All that is in the file, but what is random: tokens and the numbers of transactions. */
    private static String dump(Connection eye) throws SQLException {
        List<String> lines = new ArrayList<>();
        try (var s = eye.createStatement()) {
            for (String table : List.of("job", "event", "step", "process", "batch", "worker")) {
                try (var rows = s.executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2")) {
                    while (rows.next()) {
                        StringBuilder line = new StringBuilder(table);
                        for (int n = 1; n <= rows.getMetaData().getColumnCount(); n++) {
                            String column = rows.getMetaData().getColumnName(n);
                            boolean isRandom = column.equals("token") || column.equals("tx");
                            line.append(' ').append(column).append('=').append(isRandom ? rows.getString(n) != null : rows.getString(n));
                        }
                        lines.add(line.toString());
                    }
                }
            }
        }
        return String.join("\n", lines);
    }
}
