package sloth;

import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import sloth.Terminal.Tone;

/** What {@code run} shows: a line a job, what it waits for, and a summary that names what is left. */
public final class RunScreen implements Worker.Report {

    private final Terminal terminal;
    private final PrintStream lines;
    private final boolean watching;
    private final Clock clock;
    private final BatchBar bar;
    private long waitingFor;
    private boolean anyEnded;

    /** @param lines where the line a job goes: stdout, or stderr when stdout is for JSON */
    public RunScreen(Terminal terminal, PrintStream lines, boolean watching, Clock clock) {
        this.clock = clock;
        this.terminal = terminal;
        this.lines = lines;
        this.watching = watching;
        this.bar = new BatchBar(terminal);
    }

    @Override public synchronized void started(Lease lease) {
        waitingFor = 0;
        if (lease.attempt() > 1 || watching) {
            note(terminal.tone(Tone.FAINT, "start   " + label(lease.job()) + attempt(lease.job())));
        }
    }

    @Override public synchronized void ended(JobRecord job, Outcome outcome, Duration took) {
        String message = job.message() == null ? "" : "  " + job.message();
        if (outcome == null) {
            boolean cancelled = job.state() == State.CANCELLED;
            line(Tone.WAITS, cancelled ? "cancel" : "lost", job, took,
                cancelled ? "  cancelled by hand" : "  the lease was lost; this attempt no longer counts");
        } else if (outcome instanceof Outcome.Released) {
            line(Tone.WAITS, "release", job, took, "  stopped; it runs again");
        } else if (job.state() == State.PENDING) {
            boolean notNow = outcome instanceof Outcome.NotNow;
            String again = job.notBefore() == null ? "" : "; again " + Times.ahead(job.notBefore(), clock.millis());
            line(Tone.WAITS, notNow ? "not now" : "retry", job, took, message + (notNow ? "" : attempt(job)) + again);
        } else {
            line(job.state() == State.DONE ? Tone.GOOD : Tone.BAD, job.state().word(), job, took, message);
        }
        if (outcome != null && outcome.message() != null && outcome.message().contains("\n")) {
            outcome.message().lines().forEach(l -> note("        " + l));
        }
        anyEnded = true;
        bar.ended();
    }

    @Override public synchronized void load(LongSupplier due) {
        bar.load(due);
    }

    /** To stderr, and not into the bar. */
    private void note(String text) {
        bar.clear();
        terminal.err.println(text);
        bar.again();
    }

    private void line(Tone tone, String word, JobRecord job, Duration took, String rest) {
        bar.clear();
        lines.println(terminal.column(tone, word, 7) + " " + label(job) + "  " + Durations.roughly(took) + rest);
        bar.again();
    }

    private static String label(JobRecord job) {
        String title = job.title();
        return job.id() + " " + (title.length() > 60 ? title.substring(0, 59) + "…" : title);
    }

    private static String attempt(JobRecord job) {
        return "  (attempt " + job.attempts() + " of " + job.options().attempts() + ")";
    }

    @Override public synchronized void takenBack(JobRecord job) {
        if (job.state() == State.FAILED) {
            line(Tone.BAD, job.state().word(), job, Duration.ZERO, "  " + job.message());
        } else {
            note("slothq: took back job " + job.id() + " (" + job.message() + ")");
        }
    }

    @Override public synchronized void refused(String problem) {
        note("slothq: " + problem + " (skipped)");
    }

    @Override public synchronized void waiting(long next) {
        if (next != waitingFor) {
            waitingFor = next;
            note(terminal.tone(Tone.FAINT, "waiting for the next job, due " + Times.ahead(next, clock.millis())));
        }
    }

    @Override public synchronized void say(String line) {
        note("slothq: " + line);
    }

    /** The summary, and which jobs are left for later and when. */
    public void summary(Worker.Summary s, List<JobRecord> left, boolean stopped) {
        bar.close();
        StringBuilder text = new StringBuilder();
        part(text, s.done(), "done");
        part(text, s.retried(), s.retried() == 1 ? "retry" : "retries");
        part(text, s.failed(), "failed");
        part(text, s.refused(), s.refused() == 1 ? "file refused" : "files refused");
        if (stopped) {
            lines.println("stopped" + (text.isEmpty() ? "" : ": " + text));
        } else if (!text.isEmpty() || !anyEnded) {
            lines.println(text.isEmpty() ? "nothing to do" : text.toString());
        }
        left.stream().limit(5).forEach(j -> lines.println("later   " + label(j) + "  "
            + (j.notBefore() == null ? "as soon as it can be taken up" : Times.ahead(j.notBefore(), clock.millis()))));
        if (s.waiting() > 5) {
            lines.println("later   and " + (s.waiting() - 5) + " more");
        }
        if (s.failed() > 0) {
            terminal.err.println("'slothq log ID' shows a job's output, 'slothq retry ID' runs it again");
        }
    }

    private static void part(StringBuilder text, int n, String word) {
        if (n > 0) {
            text.append(text.isEmpty() ? "" : ", ").append(n).append(' ').append(word);
        }
    }
}
