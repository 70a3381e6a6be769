package sloth;

import java.time.Duration;
import java.time.Instant;

/** All three clocks of a machine, moved by hand. Nobody waits for a lease. */
final class TestClock implements Clock {

    static final long START = Instant.parse("2026-03-02T08:00:00Z").toEpochMilli();

    private long millis = START;
    private long nanos = 5_000_000_000L;
    private long uptime = 700_000;
    private boolean knowsUptime = true;

    @Override public synchronized long millis() {
        return millis;
    }

    @Override public synchronized long nanos() {
        return nanos;
    }

    @Override public synchronized long uptimeMillis() {
        return knowsUptime ? uptime : -1;
    }

    /** Time that everybody lives through. */
    synchronized void pass(Duration d) {
        sleep(d);
        nanos += d.toNanos();
    }

    /** The machine is suspended: its monotonic clock stands still. */
    synchronized void sleep(Duration d) {
        millis += d.toMillis();
        uptime += d.toMillis();
    }

    /** Somebody sets the wall clock, forward or back. */
    synchronized void step(Duration d) {
        millis += d.toMillis();
    }

    /** A system without /proc/uptime. */
    synchronized void withoutUptime() {
        knowsUptime = false;
    }
}
