package sloth;

import java.time.Duration;

/**
 * Time that was really lived through. Each {@link #tick} compares the three clocks since the last one: what the
 * monotonic clock missed was sleep, what the wall clock has beyond that is a step, and a tick that came far too late is a
 * pause (a frozen process, a stopped virtual machine). Neither sleep nor pause counts as awake.
 */
final class Awake {

    /** Shorter gaps are a busy machine's ordinary delays. */
    static final Duration GAP = Duration.ofSeconds(3);

    /**
     * What happened since the last tick, in milliseconds.
     *
     * @param asleep the machine slept, as far as its clocks tell; where they do not (no /proc/uptime), a step forward
     *               looks the same
     * @param paused we did not run
     * @param step   the wall clock was set, by so much
     */
    record Gap(long asleep, long paused, long step) {
        boolean isGap() {
            return asleep > 0 || paused > 0 || step != 0;
        }

        Duration away() {
            return Duration.ofMillis(asleep + paused);
        }
    }

    private final Clock clock;
    private long wall;
    private long nanos;
    private long uptime;
    private volatile long awakeNanos;

    Awake(Clock clock) {
        this.clock = clock;
        this.wall = clock.millis();
        this.nanos = clock.nanos();
        this.uptime = clock.uptimeMillis();
    }

    /** Nanoseconds lived through since the start; moves at the ticks. */
    long nanos() {
        return awakeNanos;
    }

    Gap tick() {
        long wallNow = clock.millis();
        long nanosNow = clock.nanos();
        long uptimeNow = clock.uptimeMillis();
        long ran = (nanosNow - nanos) / 1_000_000;
        long wallMoved = wallNow - wall;
        boolean knowsSleep = uptime >= 0 && uptimeNow >= 0;
        long slept = knowsSleep ? uptimeNow - uptime - ran : Math.max(0, wallMoved - ran);
        long stepped = wallMoved - ran - (knowsSleep ? slept : Math.max(0, slept));
        long paused = beyond(ran);
        awakeNanos += nanosNow - nanos - paused * 1_000_000;
        wall = wallNow;
        nanos = nanosNow;
        uptime = uptimeNow;
        return new Gap(beyond(slept), paused, Math.abs(stepped) >= GAP.toMillis() ? stepped : 0);
    }

    private static long beyond(long millis) {
        return millis >= GAP.toMillis() ? millis : 0;
    }
}
