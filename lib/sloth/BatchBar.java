package sloth;

import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * How far a long run is: a bar with rate and time left below the lines on a terminal, a line now and then elsewhere.
 * A handful of jobs needs neither.
 */
final class BatchBar implements AutoCloseable {

    private static final long JOBS_LEAST = 20;
    private static final Duration NOW_AND_THEN = Duration.ofSeconds(30);
    private static final int WIDTH_MOST = 78;
    private static final String CLEAR = "\r\u001b[K";

    private final Terminal terminal;
    private final long start = System.nanoTime();
    private ProgressBar bar;
    private String last;
    private boolean shown;
    private long ended;
    private long asked;
    private long told = start;

    BatchBar(Terminal terminal) {
        this.terminal = terminal;
    }

    void ended() {
        ended++;
        if (bar != null) {
            bar.stepTo(ended);
        }
    }

    /** Asks how much is left once a second at most: the count costs something when there are many. */
    void load(LongSupplier due) {
        long now = System.nanoTime();
        if (now - asked < Duration.ofSeconds(1).toNanos()) {
            return;
        }
        asked = now;
        boolean toTell = !terminal.isTty() && now - told > NOW_AND_THEN.toNanos();
        if (terminal.isTty() || toTell) {
            long left = due.getAsLong();
            if (terminal.isTty()) {
                draw(left);
            } else if (left >= JOBS_LEAST) {
                told = now;
                tell(left, now);
            }
        }
    }

    private void draw(long left) {
        if (bar == null && left >= JOBS_LEAST) {
            int width = Math.min(WIDTH_MOST, terminal.width() - 1);
            bar = new ProgressBarBuilder().setStyle(ProgressBarStyle.ASCII).setInitialMax(ended + left).showSpeed()
                .setUpdateIntervalMillis(500).setMaxRenderedLength(width).startsFrom(ended, Duration.ofNanos(System.nanoTime() - start))
                .setConsumer(new DelegatingProgressBarConsumer(this::show, width)).build();
        }
        if (bar != null) {
            bar.maxHint(ended + left);
        }
    }

    private synchronized void show(String text) {
        last = text;
        terminal.err.print("\r" + text + "\u001b[K");
        terminal.err.flush();
        shown = true;
    }

    /** Lines come faster than the bar changes: it stands again below each. */
    synchronized void again() {
        if (last != null) {
            show(last);
        }
    }

    private void tell(long left, long now) {
        double perSecond = ended / ((now - start) / 1e9);
        String time = perSecond > 0 ? ", about " + Durations.roughly(Duration.ofMillis((long) (1000 * left / perSecond))) + " left" : "";
        terminal.err.printf(Locale.ROOT, "slothq: %d of %d ended, %.1f/s%s%n", ended, ended + left, perSecond, time);
    }

    /** Before a line is printed where the bar stands. */
    synchronized void clear() {
        if (shown) {
            terminal.err.print(CLEAR);
            terminal.err.flush();
            shown = false;
        }
    }

    @Override public void close() {
        if (bar != null) {
            bar.close();
            clear();
            last = null;
        }
    }
}
