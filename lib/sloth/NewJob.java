package sloth;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A job that is about to be added: {@code NewJob.file("thumbs.java").args("a.jpg").in(ofMinutes(10))}.
 * Immutable; each call gives a changed copy.
 *
 * @param job       name of a file in {@code jobs/}, or null for a command
 * @param command   the command's argument vector, or null for a job file
 * @param key       while a job with this key is pending or claimed no other is added; null for none
 * @param notBefore epoch ms that the user named, 0 for as soon as possible
 * @param delay     wait so long from the moment it is added; null for none
 * @param content   a digest of the file as discovery saw it, null when added by hand
 */
public record NewJob(String job, List<String> command, List<String> args, Options options, String key, long notBefore,
                     Duration delay, String content) {

    public NewJob {
        if ((job == null) == (command == null)) {
            throw new IllegalArgumentException("a job is a file or a command, one of the two");
        }
        if (command != null && (command.isEmpty() || command.get(0).isEmpty())) {
            throw new IllegalArgumentException("a command needs a name");
        }
        if (command != null && !args.isEmpty()) {
            throw new IllegalArgumentException("a command has its arguments in itself");
        }
        args = List.copyOf(args);
        command = command == null ? null : List.copyOf(command);
        args.forEach(NewJob::storable);
        if (command != null) {
            command.forEach(NewJob::storable);
        }
        if (key != null) {
            storable(key);
        }
    }

    public static NewJob file(String job) {
        return new NewJob(job, null, List.of(), Options.DEFAULT, null, 0, null, null);
    }

    public static NewJob command(String... command) {
        return new NewJob(null, List.of(command), List.of(), Options.DEFAULT, null, 0, null, null);
    }

    public NewJob args(String... a) {
        return new NewJob(job, command, List.of(a), options, key, notBefore, delay, content);
    }

    /** The same with one more argument. */
    NewJob withLast(String arg) {
        List<String> more = new ArrayList<>(job == null ? command : args);
        more.add(arg);
        return job == null ? new NewJob(null, more, args, options, key, notBefore, delay, content) : args(more.toArray(String[]::new));
    }

    public NewJob options(Options o) {
        return new NewJob(job, command, args, o, key, notBefore, delay, content);
    }

    public NewJob priority(int p) {
        return options(options.withPriority(p));
    }

    public NewJob attempts(int n) {
        return options(options.withAttempts(n));
    }

    public NewJob key(String k) {
        return new NewJob(job, command, args, options, k, notBefore, delay, content);
    }

    public NewJob at(long epochMillis) {
        return new NewJob(job, command, args, options, key, epochMillis, null, content);
    }

    public NewJob in(Duration d) {
        return new NewJob(job, command, args, options, key, 0, d, content);
    }

    NewJob discovered(String digest) {
        return new NewJob(job, command, args, options, key, notBefore, delay, digest);
    }

    /** The key it is held by: its own, or the file and the arguments where the file says {@code key=args}. */
    String effectiveKey() {
        return key == null && options.byArgs() && job != null ? job + " " + Json.text(args) : key;
    }

    /** Whether the two differ in nothing but words and key. */
    boolean isLike(NewJob other) {
        return Objects.equals(job, other.job) && options.equals(other.options) && notBefore == other.notBefore
            && Objects.equals(delay, other.delay) && Objects.equals(content, other.content);
    }

    /** NUL ends an argument for the kernel, and a lone surrogate has no UTF-8: neither would come back as it went in. */
    private static void storable(String text) {
        if (text.indexOf('\0') >= 0) {
            throw SlothException.refused("an argument or a key cannot hold a NUL character");
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                throw SlothException.refused("an argument or a key holds half a character (a lone surrogate), which no file can store");
            }
        }
    }
}
