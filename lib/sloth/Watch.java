package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** Notices that {@code jobs/} has changed, once it has been still for two seconds: a file that is being copied is not a job yet. */
final class Watch {

    static final Duration STILL = Duration.ofSeconds(2);

    private final QueueFolder folder;
    private Map<String, String> seen;
    private Map<String, String> taken;
    private long stillSince;

    Watch(QueueFolder folder) {
        this.folder = folder;
        this.seen = look();
        this.taken = seen;
    }

    /** @return true once for each change that has settled */
    boolean hasSettled(long awakeNanos) {
        Map<String, String> now = look();
        if (!now.equals(seen)) {
            seen = now;
            stillSince = awakeNanos;
        }
        boolean settled = !seen.equals(taken) && awakeNanos - stillSince >= STILL.toNanos();
        if (settled) {
            taken = seen;
        }
        return settled;
    }

    private Map<String, String> look() {
        Map<String, String> files = new HashMap<>();
        try (Stream<Path> all = Files.list(folder.jobs())) {
            all.forEach(p -> files.put(p.getFileName().toString(), stamp(p)));
        } catch (IOException | UncheckedIOException e) {
            // Gone or unreadable in this moment: the next look will tell.
        }
        return files;
    }

    /** A link that leads nowhere (editors make them) has none, and must not hide the others. */
    private static String stamp(Path p) {
        try {
            return Files.getLastModifiedTime(p) + " " + Files.size(p);
        } catch (IOException e) {
            return "";
        }
    }
}
