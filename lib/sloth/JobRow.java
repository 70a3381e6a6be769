package sloth;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** How a job stands in its row: written from a {@link NewJob}, read into a {@link JobRecord}. */
final class JobRow {

    /** Longer text is cut: a message is a line for the eye, the log has the rest. */
    static final int MESSAGE_CHARS = 500;

    /** Colours and moves of the cursor: without its first character the rest of such a sequence would stay as text. */
    private static final Pattern ESCAPES = Pattern.compile("\u001b\\[[0-?]*[ -/]*[@-~]");
    private static final Pattern CONTROLS = Pattern.compile("\\p{Cntrl}+");
    private static final Pattern HALF_CHARACTER =
        Pattern.compile("[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]");

    private JobRow() {
    }

    /**
     * A row for each job, but for those whose key is held: the partial unique index decides, whoever asked first.
     *
     * @param jobs  alike in all but words and key
     * @param batch its id, null for none
     * @param seq   of the newest line in the ledger: the lines "added" follow it
     * @return how many rows were added
     */
    static int insert(Db db, List<NewJob> jobs, Long batch, long seq, long now) throws SQLException {
        NewJob like = jobs.get(0);
        Options o = like.options();
        long notBefore = like.delay() == null ? like.notBefore() : now + like.delay().toMillis();
        boolean due = notBefore <= now;
        return db.run("""
            INSERT INTO job (job, command, args, due, not_before, delay_ms, priority, max_attempts, backoff_ms, backoff_cap_ms,
                             lease_ms, timeout_ms, stall_ms, key, batch, discovered, content, created, last_event)
            SELECT ?1, iif(?1 IS NULL, value ->> 0, NULL), iif(?1 IS NULL, '[]', value ->> 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8,
                   ?9, ?10, ?11, value ->> 1, ?12, ?13 IS NOT NULL, ?13, ?14, ?15 + json_each.key + 1 FROM json_each(?16)
            WHERE true ON CONFLICT (key) WHERE key IS NOT NULL AND state IN ('pending', 'claimed') DO NOTHING""",
            like.job(), due ? 1 : 0, due ? 0 : notBefore, like.delay() == null ? null : like.delay().toMillis(), o.priority(), o.attempts(),
            o.backoff().base().toMillis(), o.backoff().cap().toMillis(), o.lease().toMillis(), millis(o.timeout()), millis(o.stall()),
            batch, like.content(), now, seq, wordsAndKeys(jobs));
    }

    private static String wordsAndKeys(List<NewJob> jobs) {
        List<List<String>> rows = new ArrayList<>(jobs.size());
        for (NewJob job : jobs) {
            // The words are JSON within JSON, so that they stand in the row as they are.
            String words = Json.text(job.job() == null ? job.command() : job.args());
            String key = job.effectiveKey();
            rows.add(key == null ? List.of(words) : List.of(words, key));
        }
        return Json.text(rows);
    }

    /** A row that no program could have written: it is failed by itself, and must not stop the others. */
    static final class UnreadableRow extends RuntimeException {
        final long id;

        UnreadableRow(long id, String why) {
            super(why);
            this.id = id;
        }
    }

    /** For a claim: its words must be such that they can be run. @throws UnreadableRow when they are not */
    static JobRecord readable(ResultSet r) throws SQLException {
        try {
            String job = r.getString("job");
            List<String> command = job == null ? Json.strings(r.getString("command")) : null;
            if (job == null && command.isEmpty()) {
                throw new IllegalArgumentException("an empty command");
            }
            if (job != null && (job.isEmpty() || job.indexOf('\0') >= 0)) {
                throw new IllegalArgumentException("not a file's name: " + job);
            }
            return read(r, job, command, Json.strings(r.getString("args")));
        } catch (IllegalArgumentException e) {
            throw new UnreadableRow(r.getLong("id"), e.getMessage());
        }
    }

    /** For the eye: an unreadable vector is one word, as it stands. */
    static JobRecord read(ResultSet r) throws SQLException {
        return read(r, r.getString("job"), words(r.getString("command")), words(r.getString("args")));
    }

    private static List<String> words(String json) {
        try {
            return json == null ? null : Json.strings(json);
        } catch (IllegalArgumentException e) {
            return List.of(json);
        }
    }

    private static JobRecord read(ResultSet r, String job, List<String> command, List<String> args) throws SQLException {
        State state = State.of(r.getString("state"));
        Options options = new Options(r.getInt("max_attempts"),
            new Backoff(Duration.ofMillis(r.getLong("backoff_ms")), Duration.ofMillis(r.getLong("backoff_cap_ms"))),
            Duration.ofMillis(r.getLong("lease_ms")), duration(r, "timeout_ms"), duration(r, "stall_ms"), r.getInt("priority"),
            Options.DEFAULT.run(), false);
        Long progress = Roster.nullable(r, "progress_done");
        return new JobRecord(r.getLong("id"), job, command, args, state, r.getInt("attempts"), r.getInt("claims"), options,
            state == State.PENDING && r.getInt("due") == 0 ? (Long) r.getLong("not_before") : null,
            Roster.nullable(r, "lease_until"), r.getString("worker"), r.getString("token"), r.getString("key"), Roster.nullable(r, "batch"),
            progress == null ? null : new JobRecord.Progress(progress, Roster.nullable(r, "progress_total"), r.getString("progress_note")),
            r.getString("message"), r.getLong("created"), Roster.nullable(r, "finished"));
    }

    private static Duration duration(ResultSet r, String column) throws SQLException {
        Long ms = Roster.nullable(r, column);
        return ms == null ? null : Duration.ofMillis(ms);
    }

    private static Long millis(Duration d) {
        return d == null ? null : d.toMillis();
    }

    /** The first line of it, for the eye: no control characters, nothing that a file cannot store, {@link #MESSAGE_CHARS} at most. */
    static String clean(String message) {
        if (message == null) {
            return null;
        }
        String line = ESCAPES.matcher(message).replaceAll("").lines().filter(l -> !l.isBlank()).findFirst().orElse("");
        line = HALF_CHARACTER.matcher(CONTROLS.matcher(line).replaceAll(" ")).replaceAll("?").strip();
        if (line.length() <= MESSAGE_CHARS) {
            return line;
        }
        int end = Character.isHighSurrogate(line.charAt(MESSAGE_CHARS - 2)) ? MESSAGE_CHARS - 2 : MESSAGE_CHARS - 1;
        return line.substring(0, end) + "…";
    }
}
