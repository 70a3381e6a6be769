package sloth;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ms 90s 10m 2h 7d 1h30m}. A bare number is refused: of what? */
public final class Durations {

    private static final Pattern SHAPE = Pattern.compile("(?:\\d{1,9}(?:ms|[smhd]))+");
    private static final Pattern PART = Pattern.compile("(\\d{1,9})(ms|[smhd])");

    private Durations() {
    }

    /** @throws IllegalArgumentException with a sentence that says what is wrong and gives an example */
    public static Duration parse(String text) {
        if (!SHAPE.matcher(text).matches()) {
            throw new IllegalArgumentException("'" + text + "' is not a duration; write for example 500ms, 90s, 10m, 2h, 7d or 1h30m");
        }
        Duration sum = Duration.ZERO;
        Matcher part = PART.matcher(text);
        while (part.find()) {
            sum = sum.plus(one(Long.parseLong(part.group(1)), part.group(2)));
        }
        return sum;
    }

    private static Duration one(long n, String unit) {
        return switch (unit) {
            case "ms" -> Duration.ofMillis(n);
            case "s" -> Duration.ofSeconds(n);
            case "m" -> Duration.ofMinutes(n);
            case "h" -> Duration.ofHours(n);
            default -> Duration.ofDays(n);
        };
    }

    /** As {@link #parse} reads it, exactly: {@code 1h30m}, {@code 0s} for nothing. */
    public static String format(Duration d) {
        StringBuilder text = new StringBuilder();
        part(text, d.toDays(), "d");
        part(text, d.toHoursPart(), "h");
        part(text, d.toMinutesPart(), "m");
        part(text, d.toSecondsPart(), "s");
        part(text, d.toMillisPart(), "ms");
        return text.isEmpty() ? "0s" : text.toString();
    }

    private static void part(StringBuilder text, long n, String unit) {
        if (n != 0) {
            text.append(n).append(unit);
        }
    }

    /** For the eye, two units at most: {@code 0.3s}, {@code 42s}, {@code 7h58m}, {@code 3d4h}. */
    public static String roughly(Duration d) {
        if (d.toMillis() < 10_000) {
            return String.format(Locale.ROOT, "%.1fs", d.toMillis() / 1000.0);
        }
        if (d.toMinutes() < 1) {
            return d.toSeconds() + "s";
        }
        if (d.toHours() < 1) {
            return format(Duration.ofSeconds(d.toSeconds()));
        }
        return format(d.toDays() < 1 ? Duration.ofMinutes(d.toMinutes()) : Duration.ofHours(d.toHours()));
    }
}
