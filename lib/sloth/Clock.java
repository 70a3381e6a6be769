package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The only way time comes in. Tests hold a clock that they move by hand; nothing else in slothq asks the system.
 *
 * <p>Three readings, since no one of them tells a sleep from a clock that was set: {@link #millis} jumps with both,
 * {@link #nanos} with neither, {@link #uptimeMillis} with a sleep alone.
 */
public interface Clock {

    /** Wall time in milliseconds since 1970-01-01T00:00Z. May jump either way. */
    long millis();

    /** Monotonic time in nanoseconds from an arbitrary start. Stands still while a Linux or macOS machine sleeps. */
    long nanos();

    /** Milliseconds since the machine started, its sleep included, or -1 where that cannot be had. */
    long uptimeMillis();

    /** The machine's own clocks. */
    static Clock system() {
        return SystemClock.INSTANCE;
    }

    /** Reads {@code /proc/uptime} for the time that includes sleep: the JDK has no call for CLOCK_BOOTTIME. */
    enum SystemClock implements Clock {
        INSTANCE;

        private static final Path UPTIME = Path.of("/proc/uptime");

        @Override public long millis() {
            return System.currentTimeMillis();
        }

        @Override public long nanos() {
            return System.nanoTime();
        }

        @Override public long uptimeMillis() {
            try {
                String text = Files.readString(UPTIME);
                return (long) (Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1000);
            } catch (IOException | RuntimeException e) {
                return -1;
            }
        }
    }
}
