package sloth;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sloth.Terminal.Tone;

/** What people see of a queue: counts, tables, one job with its history. */
public final class StatusText {

    private static final int MESSAGE_WIDTH = 60;

    private StatusText() {
    }

    public static void print(SlothQueue queue, Terminal t) {
        Map<State, Long> counts = queue.counts();
        List<String> parts = new ArrayList<>();
        counts.forEach((state, n) -> {
            if (n > 0) {
                parts.add(n + " " + t.state(state));
            }
        });
        t.out.println(parts.isEmpty() ? "no jobs" : String.join(", ", parts));
        long due = queue.overview().due();
        long waiting = counts.get(State.PENDING) - due;
        Optional<Long> next = queue.overview().nextDue(List.of());
        if (waiting > 0 && next.isPresent()) {
            t.out.println(waiting + (waiting == 1 ? " waits" : " wait") + ", the next falls due " + Times.ahead(next.get(), queue.now()));
        }
        List<JobRecord> stranded = queue.overview().stranded();
        for (JobRecord job : queue.list(new SlothQueue.Filter(State.CLAIMED, null, null, 20))) {
            t.out.println(running(job, stranded.contains(job) ? t.tone(Tone.WAITS, "stranded") : t.tone(Tone.STRONG, "running")));
        }
        if (!stranded.isEmpty()) {
            t.out.println(stranded.size() + " stranded (their worker is gone, or its lease is over): the next 'slothq run' takes them up");
        }
        if (due > 0 && !queue.hasLiveWorker()) {
            t.out.println("no worker runs; 'slothq run' starts one");
        }
        for (Overview.BatchCounts b : queue.overview().openBatches()) {
            t.out.println("batch " + b.batch() + " " + b.job() + "  " + b.done() + " done, " + b.failed() + " failed, " + b.stranded()
                + " stranded, " + b.left() + " left");
        }
    }

    private static String running(JobRecord job, String word) {
        String progress = job.progress() == null ? "" : "  " + progress(job.progress());
        return word + " " + job.id() + " " + job.title() + "  attempt " + job.attempts() + " of "
            + job.options().attempts() + progress;
    }

    static String progress(JobRecord.Progress p) {
        return p.done() + (p.total() == null ? "" : "/" + p.total()) + (p.note() == null ? "" : " " + p.note());
    }

    public static void table(List<JobRecord> jobs, long now, Terminal t) {
        if (jobs.isEmpty()) {
            t.err.println("no jobs");
            return;
        }
        int idWidth = Math.max(2, Long.toString(jobs.get(jobs.size() - 1).id()).length());
        int titleWidth = Math.min(40, jobs.stream().mapToInt(j -> j.title().length()).max().orElse(3));
        t.out.println(t.tone(Tone.FAINT, pad("id", idWidth) + "  state      tries  " + pad("job", titleWidth) + "  message"));
        for (JobRecord j : jobs) {
            String state = t.state(j.state()) + " ".repeat(9 - j.state().word().length());
            String tries = j.attempts() + "/" + j.options().attempts();
            t.out.println((pad(Long.toString(j.id()), idWidth) + "  " + state + "  " + pad(tries, 5) + "  "
                + pad(cut(j.title(), titleWidth), titleWidth) + "  " + cut(note(j, now), MESSAGE_WIDTH)).stripTrailing());
        }
    }

    private static String note(JobRecord j, long now) {
        String message = j.message() == null ? "" : j.message();
        if (j.notBefore() != null) {
            return "due at " + Times.shown(j.notBefore(), now) + (message.isEmpty() ? "" : "; " + message);
        }
        return j.state() == State.CLAIMED && j.progress() != null ? progress(j.progress()) : message;
    }

    public static void show(JobRecord j, List<Event> history, Map<String, String> steps, long now, Terminal t) {
        t.out.println(t.tone(Tone.STRONG, "job " + j.id()) + "  " + j.title());
        line(t, "state", t.state(j.state()) + ", attempt " + j.attempts() + " of " + j.options().attempts());
        line(t, "message", j.message());
        line(t, "progress", j.progress() == null ? null : progress(j.progress()));
        line(t, "due", j.notBefore() == null ? null : Times.shown(j.notBefore(), now));
        line(t, "worker", j.worker());
        line(t, "key", j.key());
        line(t, "batch", j.batch() == null ? null : j.batch().toString());
        String options = written(j.options());
        line(t, "options", options.isEmpty() ? null : options);
        line(t, "added", Times.shown(j.created(), now));
        line(t, "ended", j.finished() == null ? null : Times.shown(j.finished(), now));
        steps.forEach((name, json) -> line(t, "step", name + " = " + cut(json, MESSAGE_WIDTH)));
        for (Event e : history) {
            String attempt = e.attempt() == null ? "   " : "  " + e.attempt();
            t.out.println(("  " + Times.shown(e.at(), now) + "  " + pad(e.event(), 10) + attempt + "  " + detail(e)).stripTrailing());
        }
    }

    private static String detail(Event e) {
        List<String> words = new ArrayList<>();
        e.detail().forEach((name, value) -> {
            switch (name) {
                case "reason" -> words.add(0, value.toString());
                case "wait_ms" -> words.add("waits " + Durations.roughly(Duration.ofMillis(((Number) value).longValue())));
                case "ms" -> words.add(Durations.roughly(Duration.ofMillis(((Number) value).longValue())));
                case "name", "kind", "refused" -> words.add(value.toString());
                default -> { }
            }
        });
        return String.join(", ", words);
    }

    public static void files(List<JobFile> files, Terminal t) {
        if (files.isEmpty()) {
            t.err.println("no job files; 'slothq new NAME' writes one");
        }
        int width = files.stream().mapToInt(f -> f.name().length()).max().orElse(0);
        for (JobFile f : files) {
            String kind = f.kind() == null ? "?" : f.kind().word();
            t.out.println((pad(f.name(), width) + "  " + pad(kind, 8) + "  " + written(f.options())).stripTrailing());
            if (f.problem() != null) {
                t.out.println("  " + t.tone(Tone.BAD, f.problem()));
            }
        }
    }

    private static String written(Options options) {
        return String.join(" ", options.written().entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).toList());
    }

    private static void line(Terminal t, String name, String value) {
        if (value != null) {
            t.out.println("  " + pad(name, 9) + value);
        }
    }

    private static String pad(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }

    private static String cut(String text, int width) {
        return text.length() <= width ? text : text.substring(0, Math.max(0, width - 1)) + "…";
    }
}
