package sloth;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code --json} prints. People script against these names: they are stable from the first release, and null is
 * written as null. Times are ISO-8601 UTC.
 */
public final class Shapes {

    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private Shapes() {
    }

    public static String text(Object shape) {
        return GSON.toJson(shape);
    }

    public static Map<String, Object> job(JobRecord j) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("id", j.id());
        o.put("job", j.job());
        o.put("command", j.command());
        o.put("args", j.args());
        o.put("state", j.state().word());
        o.put("attempts", j.attempts());
        o.put("max_attempts", j.options().attempts());
        o.put("priority", j.options().priority());
        o.put("not_before", time(j.notBefore()));
        o.put("lease_until", time(j.leaseUntil()));
        o.put("worker", j.worker());
        o.put("key", j.key());
        o.put("batch", j.batch());
        o.put("progress", j.progress());
        o.put("message", j.message());
        o.put("created", time(j.created()));
        o.put("finished", time(j.finished()));
        return o;
    }

    /** @param steps name to JSON value */
    public static Map<String, Object> shown(JobRecord j, List<Event> history, Map<String, String> steps) {
        Map<String, Object> o = job(j);
        o.put("history", history.stream().map(Shapes::event).toList());
        Map<String, JsonElement> values = new LinkedHashMap<>();
        steps.forEach((name, json) -> values.put(name, JsonParser.parseString(json)));
        if (!values.isEmpty()) {
            o.put("steps", values);
        }
        return o;
    }

    private static Map<String, Object> event(Event e) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("seq", e.seq());
        o.put("at", time(e.at()));
        o.put("event", e.event());
        o.put("attempt", e.attempt());
        o.put("worker", e.worker());
        o.put("detail", e.detail());
        return o;
    }

    public static Map<String, Object> status(SlothQueue queue) {
        Map<State, Long> counts = queue.counts();
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("folder", queue.folder().root().toString());
        Map<String, Long> words = new LinkedHashMap<>();
        counts.forEach((state, n) -> words.put(state.word(), n));
        o.put("counts", words);
        long due = queue.overview().due();
        o.put("due", due);
        o.put("waiting", counts.get(State.PENDING) - due);
        o.put("stranded", queue.overview().stranded().size());
        o.put("next_due", queue.overview().nextDue(List.of()).map(Shapes::time).orElse(null));
        o.put("workers", queue.workers().stream().map(w -> worker(queue, w)).toList());
        return o;
    }

    private static Map<String, Object> worker(SlothQueue queue, Roster.WorkerRecord w) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("id", w.id());
        o.put("pid", w.pid());
        o.put("host", w.host().name());
        o.put("alive", !queue.isDead(w));
        o.put("job", w.job());
        return o;
    }

    public static Map<String, Object> jobFile(JobFile f) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("job", f.name());
        o.put("kind", f.kind() == null ? null : f.kind().word());
        o.put("options", f.options().written());
        o.put("problem", f.problem());
        return o;
    }

    public static Map<String, Object> summary(Worker.Summary s) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("done", s.done());
        o.put("retried", s.retried());
        o.put("failed", s.failed());
        o.put("waiting", s.waiting());
        return o;
    }

    public static Map<String, Object> findings(boolean ok, List<Doctor.Finding> findings) {
        Map<String, Object> o = new LinkedHashMap<>();
        o.put("ok", ok);
        o.put("findings", findings.stream().map(f -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", f.name());
            one.put("verdict", f.verdict().name().toLowerCase(Locale.ROOT));
            one.put("text", f.text());
            return one;
        }).toList());
        return o;
    }

    private static String time(Long epochMillis) {
        return epochMillis == null ? null : Instant.ofEpochMilli(epochMillis).toString();
    }
}
