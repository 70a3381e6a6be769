package sloth;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What a job file may ask for in its {@code //JOB} lines, copied onto the job's row when it is added.
 *
 * @param timeout null for none; awake time from the start of an attempt
 * @param stall   null for none; awake time without output or progress
 * @param byArgs  {@code key=args}: the file and its arguments are the job's key
 */
public record Options(int attempts, Backoff backoff, Duration lease, Duration timeout, Duration stall, int priority,
                      RunWhen run, boolean byArgs) {

    public static final Options DEFAULT =
        new Options(4, Backoff.DEFAULT, Duration.ofSeconds(60), null, null, 0, RunWhen.ONCE, false);

    public static final Duration LEASE_LEAST = Duration.ofSeconds(1);
    /** A year: longer is a typing error, and far from where adding milliseconds overflows. */
    public static final Duration LONGEST = Duration.ofDays(366);

    public static final List<String> NAMES =
        List.of("attempts", "backoff", "lease", "timeout", "stall", "priority", "run", "key");

    /** When discovery adds a job for the file. */
    public enum RunWhen { ONCE, ADDED, ALWAYS }

    /** What people call these things elsewhere. */
    private static final Map<String, String> ELSEWHERE = Map.ofEntries(
        Map.entry("retries", "attempts"), Map.entry("retry", "attempts"), Map.entry("tries", "attempts"),
        Map.entry("max_attempts", "attempts"), Map.entry("maxattempts", "attempts"), Map.entry("max", "attempts"),
        Map.entry("delay", "backoff"), Map.entry("wait", "backoff"), Map.entry("ttl", "lease"),
        Map.entry("visibility", "lease"), Map.entry("deadline", "timeout"), Map.entry("limit", "timeout"),
        Map.entry("idle", "stall"), Map.entry("hang", "stall"), Map.entry("prio", "priority"),
        Map.entry("nice", "priority"), Map.entry("when", "run"), Map.entry("unique", "key"), Map.entry("id", "key"));

    /** @throws IllegalArgumentException with a sentence for the user, the place left to the caller */
    public Options with(String name, String value) {
        return switch (name) {
            case "attempts" -> withAttempts(whole(name, value, 1, 1_000_000));
            case "backoff" -> new Options(attempts, backoff(value), lease, timeout, stall, priority, run, byArgs);
            case "lease" -> new Options(attempts, backoff, lease(value), timeout, stall, priority, run, byArgs);
            case "timeout" -> new Options(attempts, backoff, lease, time(name, value), stall, priority, run, byArgs);
            case "stall" -> new Options(attempts, backoff, lease, timeout, time(name, value), priority, run, byArgs);
            case "priority" -> withPriority(whole(name, value, Integer.MIN_VALUE, Integer.MAX_VALUE));
            case "run" -> new Options(attempts, backoff, lease, timeout, stall, priority, runWhen(value), byArgs);
            case "key" -> new Options(attempts, backoff, lease, timeout, stall, priority, run,
                oneOf(name, value, "none", "args").equals("args"));
            default -> throw new IllegalArgumentException("unknown option '" + name + "'; " + hint(name));
        };
    }

    public Options withAttempts(int n) {
        return new Options(n, backoff, lease, timeout, stall, priority, run, byArgs);
    }

    public Options withPriority(int n) {
        return new Options(attempts, backoff, lease, timeout, stall, n, run, byArgs);
    }

    /** The options that differ from the default, as they would be written. */
    public Map<String, Object> written() {
        Map<String, Object> all = new LinkedHashMap<>();
        put(all, "attempts", attempts, DEFAULT.attempts);
        put(all, "backoff", text(backoff), text(DEFAULT.backoff));
        put(all, "lease", Durations.format(lease), Durations.format(DEFAULT.lease));
        put(all, "timeout", timeout == null ? null : Durations.format(timeout), null);
        put(all, "stall", stall == null ? null : Durations.format(stall), null);
        put(all, "priority", priority, DEFAULT.priority);
        put(all, "run", run.name().toLowerCase(Locale.ROOT), "once");
        put(all, "key", byArgs ? "args" : "none", "none");
        return all;
    }

    private static void put(Map<String, Object> all, String name, Object value, Object usual) {
        if (!Objects.equals(value, usual)) {
            all.put(name, value);
        }
    }

    private static String text(Backoff b) {
        return Durations.format(b.base()) + ".." + Durations.format(b.cap());
    }

    private static int whole(String name, String value, long least, long most) {
        try {
            long n = Long.parseLong(value);
            if (n >= least && n <= most) {
                return (int) n;
            }
        } catch (NumberFormatException e) {
            // said below, with the range
        }
        throw new IllegalArgumentException(name + "=" + value + " is not a whole number from " + least + " to " + most);
    }

    private static Duration time(String name, String value) {
        Duration d = Durations.parse(value);
        if (d.isZero() || d.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(name + "=" + value + " must be more than nothing and at most 366d");
        }
        return d;
    }

    private static Duration lease(String value) {
        Duration d = time("lease", value);
        if (d.compareTo(LEASE_LEAST) < 0) {
            throw new IllegalArgumentException("lease=" + value + " must be at least 1s");
        }
        return d;
    }

    private static Backoff backoff(String value) {
        int dots = value.indexOf("..");
        Duration base = time("backoff", dots < 0 ? value : value.substring(0, dots));
        Duration cap = dots < 0 ? longer(base, DEFAULT.backoff.cap()) : time("backoff", value.substring(dots + 2));
        if (cap.compareTo(base) < 0) {
            throw new IllegalArgumentException("backoff=" + value + " goes down; write the shorter wait first, for example 2s..1h");
        }
        return new Backoff(base, cap);
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) > 0 ? a : b;
    }

    private static RunWhen runWhen(String value) {
        return RunWhen.valueOf(oneOf("run", value, "once", "added", "always").toUpperCase(Locale.ROOT));
    }

    private static String oneOf(String name, String value, String... words) {
        if (!List.of(words).contains(value)) {
            throw new IllegalArgumentException(name + "=" + value + " is not one of " + String.join(", ", words));
        }
        return value;
    }

    private static String hint(String name) {
        Optional<String> near = Optional.ofNullable(ELSEWHERE.get(name.toLowerCase(Locale.ROOT)))
            .or(() -> Nearest.of(name, NAMES));
        return near.map(n -> "did you mean '" + n + "'?").orElse("the options are " + String.join(", ", NAMES));
    }
}
