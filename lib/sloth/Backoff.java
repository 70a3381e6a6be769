package sloth;

import java.time.Duration;

/**
 * How long a job waits after a failed attempt: min(cap, base × 2^(n−1)) after attempt n.
 * Pure, and right for any attempt: {@code 1L << 64} is 1, so the doubling stops at the cap instead of shifting on.
 */
public record Backoff(Duration base, Duration cap) {

    public static final Backoff DEFAULT = new Backoff(Duration.ofSeconds(2), Duration.ofHours(1));

    public Backoff {
        if (base.isNegative() || base.isZero() || cap.compareTo(base) < 0) {
            throw new IllegalArgumentException("a back-off goes from more than nothing up: " + base + ".." + cap);
        }
    }

    /** @param attempt 1 for the first; anything below counts as the first */
    public Duration after(int attempt) {
        long wait = base.toMillis();
        long most = cap.toMillis();
        for (int n = 1; n < attempt && wait < most; n++) {
            wait = wait > most / 2 ? most : wait * 2;
        }
        return Duration.ofMillis(Math.min(wait, most));
    }
}
