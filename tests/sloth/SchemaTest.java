package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The file")
class SchemaTest extends QueueFixture {

    private Connection raw;

    @BeforeEach void connect() throws SQLException {
        raw = Db.connect(folder.database());
        sql("PRAGMA foreign_keys = ON");
    }

    @AfterEach void disconnect() throws SQLException {
        raw.close();
    }

    private void sql(String statement) throws SQLException {
        try (var s = raw.createStatement()) {
            s.executeUpdate(statement);
        }
    }

    private String ask(String query) throws SQLException {
        try (var s = raw.createStatement(); var r = s.executeQuery(query)) {
            return r.next() ? r.getString(1) : null;
        }
    }

    private void assertRefused(String statement) {
        SQLException e = assertThrows(SQLException.class, () -> sql(statement), statement);
        assertTrue(e.getMessage().contains("CONSTRAINT") || e.getMessage().contains("only appended to"), e.getMessage());
    }

    // ---- what a row may not be, whoever writes it

    @ParameterizedTest(name = "refuses SET {0}", quoteTextArguments = false)
    @ValueSource(strings = {
        "state = 'claimed'", "state = 'running'", "state = NULL", "state = 'done'", "state = 'failed'", "state = 'cancelled'",
        "token = 't'", "worker = 'w'", "lease_until = 1", "finished = 1", "job = NULL", "command = '[\"true\"]'",
        "args = 'a b'", "args = NULL", "attempts = -1", "attempts = 1", "claims = -1", "not_nows = -1", "max_attempts = 0",
        "backoff_ms = 0", "backoff_cap_ms = 1", "lease_ms = 0", "timeout_ms = 0", "stall_ms = -1", "delay_ms = -1", "due = 2",
        "discovered = 7", "priority = 'high'", "priority = NULL", "created = 'today'", "created = NULL", "batch = 77"})
    void refuses_nonsense_in_a_pending_row(String nonsense) throws SQLException {
        queue.add(job("a.sh"));
        assertRefused("UPDATE job SET " + nonsense);
    }

    @ParameterizedTest(name = "refuses SET {0} on a claimed row", quoteTextArguments = false)
    @ValueSource(strings = {
        "state = 'pending'", "state = 'done', finished = 1", "token = NULL", "worker = NULL", "lease_until = NULL", "attempts = 0",
        "claims = 0", "finished = 1"})
    void refuses_nonsense_in_a_claimed_row(String nonsense) {
        queue.add(job("a.sh"));
        claim();
        assertRefused("UPDATE job SET " + nonsense);
    }

    @ParameterizedTest(name = "refuses SET {0} on a done row", quoteTextArguments = false)
    @ValueSource(strings = {"finished = NULL", "state = 'pending'", "token = 't'"})
    void refuses_nonsense_in_a_done_row(String nonsense) {
        queue.add(job("a.sh"));
        queue.complete(claim(), null);
        assertRefused("UPDATE job SET " + nonsense);
    }

    @Test void refuses_two_living_jobs_with_one_key() {
        queue.add(job("a.sh").key("k"));
        queue.add(job("b.sh").key("l"));
        assertRefused("UPDATE job SET key = 'k'");
    }

    @Test void refuses_an_unknown_event_and_a_detail_that_is_no_json() {
        assertRefused("INSERT INTO event (at, event, tx) VALUES (1, 'exploded', 1)");
        assertRefused("INSERT INTO event (at, event, detail, tx) VALUES (1, 'added', 'soon', 1)");
        assertRefused("INSERT INTO event (at, event, tx) VALUES ('now', 'added', 1)");
    }

    @Test void refuses_a_step_of_no_job_and_one_that_is_no_json() {
        long id = queue.add(job("a.sh")).id();
        assertRefused("INSERT INTO step VALUES (77, 'upload', '1')");
        assertRefused("INSERT INTO step VALUES (" + id + ", 'upload', 'one')");
    }

    // ---- the ledger

    @Test void lets_nobody_change_the_ledger() {
        queue.add(job("a.sh"));
        assertRefused("UPDATE event SET at = 1");
        assertRefused("UPDATE event SET event = 'done'");
    }

    @Test void lets_nobody_take_lines_out_of_the_ledger_while_their_job_is_there() throws SQLException {
        long id = queue.add(job("a.sh")).id();
        queue.steppedForward(java.time.Duration.ofSeconds(5));
        assertRefused("DELETE FROM event WHERE job = " + id);
        assertRefused("DELETE FROM event WHERE job IS NULL");
        queue.cancel(id);
        queue.prune(java.time.Duration.ZERO);
        assertEquals("0", ask("SELECT count(*) FROM event WHERE job = " + id));
        assertRefused("DELETE FROM event");
    }

    @Test void never_gives_a_number_of_the_ledger_again() throws SQLException {
        queue.add(job("a.sh"));
        queue.cancel(1);
        queue.prune(java.time.Duration.ZERO);
        String highest = ask("SELECT max(seq) FROM event");
        queue.add(job("b.sh"));
        assertEquals(Long.parseLong(highest) + 1, Long.parseLong(ask("SELECT max(seq) FROM event")));
    }

    // ---- for whoever opens it with sqlite3

    @Test void shows_jobs_and_history_with_times_that_people_read() throws SQLException {
        queue.add(job("fetch.sh").args("https://example.org"));
        queue.add(NewJob.command("echo", "a b").in(java.time.Duration.ofMinutes(5)));
        queue.fail(claim("w1"), "no route to host");
        assertEquals("fetch.sh", ask("SELECT job FROM jobs WHERE id = 1"));
        assertEquals("1/4", ask("SELECT attempts FROM jobs WHERE id = 1"));
        assertEquals("[\"echo\",\"a b\"]", ask("SELECT job FROM jobs WHERE id = 2"));
        assertTrue(ask("SELECT not_before FROM jobs WHERE id = 2").matches("2026-03-0\\d \\d\\d:\\d5:00"), "local time");
        assertTrue(ask("SELECT created FROM jobs WHERE id = 1").matches("2026-03-0\\d \\d\\d:\\d\\d:00"));
        assertEquals("added,added,claimed,retry", ask("SELECT group_concat(event, ',') FROM (SELECT event FROM history ORDER BY seq)"));
        assertEquals("fetch.sh", ask("SELECT job FROM history WHERE event = 'retry'"));
        assertTrue(ask("SELECT at FROM history").matches("2026-03-0\\d \\d\\d:\\d\\d:00\\.000"));
    }

    @Test void is_durable_and_says_whose_it_is() throws SQLException {
        assertEquals("wal", ask("PRAGMA journal_mode"));
        assertEquals(Schema.APPLICATION_ID, Integer.parseInt(ask("PRAGMA application_id")));
        assertEquals(Schema.MIGRATIONS.size(), Integer.parseInt(ask("PRAGMA user_version")));
        Db own = new Db(raw);
        Schema.apply(own, folder.database(), Schema.MIGRATIONS);
        assertEquals(2, own.number("PRAGMA synchronous"), "FULL: an acknowledged move survives a power cut");
        assertEquals(1, own.number("PRAGMA foreign_keys"));
        assertEquals(1, own.number("PRAGMA fullfsync"));
    }

    // ---- migrations

    private static List<String> andThen(String... more) {
        List<String> all = new ArrayList<>(Schema.MIGRATIONS);
        all.addAll(List.of(more));
        return all;
    }

    private void migrate(List<String> migrations) throws SQLException {
        Schema.apply(new Db(raw), folder.database(), migrations);
    }

    private Path backup() {
        return folder.database().resolveSibling("queue.db.v" + Schema.MIGRATIONS.size() + ".bak");
    }

    @Test void of_an_older_version_is_brought_up_to_date_with_all_that_it_holds() throws SQLException {
        queue.add(job("a.sh"));
        migrate(andThen("ALTER TABLE job ADD COLUMN colour TEXT DEFAULT 'red'", "CREATE INDEX job_colour ON job (colour)"));
        assertEquals(Schema.MIGRATIONS.size() + 2, Integer.parseInt(ask("PRAGMA user_version")));
        assertEquals("red", ask("SELECT colour FROM job WHERE job = 'a.sh'"));
        assertEquals("job_colour", ask("SELECT name FROM sqlite_schema WHERE name = 'job_colour'"));
    }

    @Test void is_copied_before_it_is_migrated() throws SQLException {
        queue.add(job("a.sh"));
        migrate(andThen("DELETE FROM meta"));
        try (Connection copy = Db.connect(backup()); var s = copy.createStatement()) {
            assertEquals("a.sh", s.executeQuery("SELECT job FROM job").getString(1));
            assertEquals(Schema.MIGRATIONS.size(), s.executeQuery("PRAGMA user_version").getInt(1), "as it was before");
        }
    }

    @Test void is_not_copied_when_it_is_new_or_up_to_date() throws SQLException {
        migrate(Schema.MIGRATIONS);
        assertFalse(Files.exists(backup()));
        assertFalse(Files.exists(folder.database().resolveSibling("queue.db.v0.bak")));
    }

    @Test void is_as_it_was_when_a_migration_fails() throws SQLException {
        queue.add(job("a.sh"));
        assertThrows(SQLException.class,
            () -> migrate(andThen("ALTER TABLE job ADD COLUMN colour TEXT", "ALTER TABLE nosuch ADD COLUMN x")));
        assertEquals(Schema.MIGRATIONS.size(), Integer.parseInt(ask("PRAGMA user_version")));
        assertEquals("0", ask("SELECT count(*) FROM pragma_table_info('job') WHERE name = 'colour'"), "all of the way or none");
        reopen();
        assertEquals("a.sh", claim().job().job());
    }

    @Test void is_migrated_once_though_two_find_it_old() throws SQLException {
        try (Connection other = Db.connect(folder.database())) {
            migrate(andThen("ALTER TABLE job ADD COLUMN colour TEXT"));
            Schema.apply(new Db(other), folder.database(), andThen("ALTER TABLE job ADD COLUMN colour TEXT"));
        }
        assertEquals("1", ask("SELECT count(*) FROM pragma_table_info('job') WHERE name = 'colour'"));
    }

    @Test void of_the_first_version_keeps_its_histories_and_batches() throws SQLException {
        QueueFolder old = new QueueFolder(root.resolve("old")).prepare();
        try (Connection c = Db.connect(old.database()); var s = c.createStatement()) {
            Schema.apply(new Db(c), old.database(), Schema.MIGRATIONS.subList(0, 1));
            s.executeUpdate("INSERT INTO batch (job, created) VALUES ('a.sh', 1)");
            for (String batch : List.of("NULL", "1", "1", "NULL")) {
                s.executeUpdate("INSERT INTO job (job, batch, max_attempts, backoff_ms, backoff_cap_ms, lease_ms, created)"
                    + " VALUES ('a.sh', " + batch + ", 4, 1, 1, 1, 1)");
                s.executeUpdate("INSERT INTO event (job, at, event, tx) VALUES (last_insert_rowid(), 1, 'added', 1)");
            }
            s.executeUpdate("UPDATE job SET state = 'done', finished = 2, attempts = 1, claims = 1 WHERE id = 2");
            s.executeUpdate("INSERT INTO event (job, at, event, attempt, tx) VALUES (2, 2, 'claimed', 1, 2), (2, 2, 'done', 1, 3)");
        }
        try (SlothQueue q = SlothQueue.open(old, clock)) {
            assertEquals(List.of("added", "claimed", "done"), q.history(2).stream().map(Event::event).toList());
            assertEquals(List.of("added"), q.history(4).stream().map(Event::event).toList());
            assertEquals(List.of(2L, 3L), q.list(new SlothQueue.Filter(null, null, 1L, null)).stream().map(JobRecord::id).toList());
            assertEquals(List.of(new Overview.BatchCounts(1, "a.sh", 1, 0, 0, 1)), q.overview().openBatches());
            q.cancel(3);
            assertEquals(List.of("added", "cancelled"), q.history(3).stream().map(Event::event).toList());
            assertEquals(List.of(), q.overview().contradictions());
        }
        assertTrue(Files.exists(old.database().resolveSibling("queue.db.v1.bak")));
    }

    // ---- files that are not ours

    private SlothException refusal() {
        return assertThrows(SlothException.class, () -> SlothQueue.open(folder, clock));
    }

    @Test void of_a_newer_version_is_left_alone() throws SQLException {
        sql("PRAGMA user_version = 99");
        SlothException e = refusal();
        assertEquals(SlothException.UNUSABLE, e.exitCode());
        String said = "was written by a newer slothq (schema 99, this one knows " + Schema.MIGRATIONS.size() + ")";
        assertTrue(e.getMessage().contains(said), e.getMessage());
        assertEquals("99", ask("PRAGMA user_version"));
        sql("PRAGMA user_version = " + Schema.MIGRATIONS.size());
    }

    @Test void of_another_program_is_left_alone() throws Exception {
        QueueFolder foreign = new QueueFolder(root.resolve("foreign")).prepare();
        try (Connection c = Db.connect(foreign.database()); var s = c.createStatement()) {
            s.executeUpdate("CREATE TABLE job (id INTEGER)");
        }
        byte[] before = Files.readAllBytes(foreign.database());
        SlothException e = assertThrows(SlothException.class, () -> SlothQueue.open(foreign, clock));
        assertTrue(e.getMessage().contains("is a database, but not a slothq queue"), e.getMessage());
        assertEquals(SlothException.UNUSABLE, e.exitCode());
        assertArrayEquals(before, Files.readAllBytes(foreign.database()));
    }

    @Test void that_is_no_database_is_left_alone() throws IOException {
        QueueFolder foreign = new QueueFolder(root.resolve("foreign")).prepare();
        Files.writeString(foreign.database(), "Dear diary,\n".repeat(500));
        SlothException e = assertThrows(SlothException.class, () -> SlothQueue.open(foreign, clock));
        assertTrue(e.getMessage().contains("is not a database"), e.getMessage());
        assertEquals("Dear diary,\n".repeat(500), Files.readString(foreign.database()));
    }

    @Test void that_is_empty_becomes_a_queue() throws IOException {
        QueueFolder fresh = new QueueFolder(root.resolve("fresh")).prepare();
        Files.createFile(fresh.database());
        try (SlothQueue q = SlothQueue.open(fresh, clock)) {
            assertEquals(1, q.add(job("a.sh")).id());
        }
    }

    @Test void is_not_written_any_more_once_it_was_replaced_or_is_gone() throws IOException {
        queue.add(job("a.sh"));
        Path aside = root.resolve("aside.db");
        Files.move(folder.database(), aside);
        SlothException gone = assertThrows(SlothException.class, () -> queue.add(job("b.sh")));
        assertEquals(SlothException.UNUSABLE, gone.exitCode());
        assertTrue(gone.getMessage().contains("was moved, deleted or replaced"), gone.getMessage());
        Files.copy(aside, folder.database());
        assertThrows(SlothException.class, () -> queue.claim("w"), "another file of that name is not the one");
        Files.delete(folder.database());
        Files.move(aside, folder.database());
        assertEquals("a.sh", claim().job().job(), "it is back");
    }

    @Test void has_a_name_of_its_own_that_a_new_one_does_not_share() throws SQLException {
        String uuid = ask("SELECT value FROM meta WHERE name = 'uuid'");
        try (SlothQueue other = SlothQueue.open(new QueueFolder(root.resolve("other")), clock);
             Connection c = Db.connect(other.folder().database()); var s = c.createStatement()) {
            assertNotEquals(uuid, s.executeQuery("SELECT value FROM meta WHERE name = 'uuid'").getString(1));
        }
    }

    // ---- copies and looks

    @Test void copied_while_in_use_is_a_working_queue() throws IOException {
        queue.add(job("a.sh"));
        queue.add(job("b.sh"));
        queue.complete(claim(), "well");
        QueueFolder second = new QueueFolder(root.resolve("second")).prepare();
        queue.backup(second.database());
        queue.add(job("c.sh"));
        try (SlothQueue copy = SlothQueue.open(second, clock)) {
            assertEquals(List.of("a.sh", "b.sh"), copy.list().stream().map(JobRecord::job).toList());
            assertEquals("b.sh", copy.claim("w").orElseThrow().job().job());
            assertEquals(List.of(), copy.overview().contradictions());
        }
    }

    @Test void copied_forgets_the_workers_of_the_original_and_their_processes() throws IOException {
        long id = queue.add(job("a.sh")).id();
        queue.enter("w1", 1);
        Lease lease = queue.claimToRun("w1", List.of()).orElseThrow();
        QueueFolder second = new QueueFolder(root.resolve("second")).prepare();
        queue.backup(second.database());
        try (SlothQueue copy = SlothQueue.open(second, clock)) {
            assertEquals(List.of(), copy.workers());
            assertEquals(List.of(), copy.processesOf(id), "they are the original's: to end them would end its job");
            assertNotEquals(queue.mark(lease), copy.mark(lease));
            assertEquals(List.of(), copy.reclaim("w2", job -> true), "only the lease counts");
            clock.pass(java.time.Duration.ofSeconds(60));
            assertEquals(1, copy.reclaim("w2", job -> true).size());
        }
        reopen();
        assertEquals(1, queue.processesOf(id).size(), "the original keeps them");
        assertEquals(1, queue.workers().size());
    }

    @Test void renamed_is_the_same_queue() throws IOException {
        long id = queue.add(job("a.sh")).id();
        queue.enter("w1", 1);
        queue.claimToRun("w1", List.of());
        queue.close();
        Path renamed = Files.move(root.resolve(".slothq"), Files.createDirectory(root.resolve("elsewhere")).resolve(".slothq"));
        try (SlothQueue same = SlothQueue.open(new QueueFolder(renamed.getParent()), clock)) {
            assertEquals(1, same.processesOf(id).size());
        } finally {
            Files.move(renamed, root.resolve(".slothq"));
            queue = SlothQueue.open(folder, clock);
        }
    }

    @Test void is_not_copied_over_another_file() throws IOException {
        Path there = Files.writeString(root.resolve("copy.db"), "mine");
        assertEquals(SlothException.REFUSED, assertThrows(SlothException.class, () -> queue.backup(there)).exitCode());
        assertEquals("mine", Files.readString(there));
    }

    @Test void is_neither_made_nor_changed_by_a_look() throws IOException {
        QueueFolder empty = new QueueFolder(Files.createDirectories(root.resolve("empty")));
        try (SlothQueue look = SlothQueue.look(empty)) {
            assertEquals(List.of(), look.list());
            assertEquals(0, look.counts().get(State.PENDING));
        }
        try (var files = Files.list(empty.root())) {
            assertEquals(0, files.count());
        }
        queue.add(job("a.sh"));
        try (SlothQueue look = SlothQueue.look(folder)) {
            assertEquals(1, look.list().size());
            assertThrows(SlothException.class, () -> look.add(job("b.sh")));
        }
    }

    @Test void may_lie_in_a_folder_of_any_name() {
        String umlaut = Locales.mayHaveLost("ü") ? "" : "ü";
        QueueFolder odd = new QueueFolder(root.resolve("what? 100% #1 & more;x=y " + umlaut));
        try (SlothQueue q = SlothQueue.open(odd, clock)) {
            q.add(job("a.sh"));
        }
        assertTrue(Files.exists(odd.database()), "where it was asked for");
    }
}
