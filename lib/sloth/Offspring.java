package sloth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether a process may have started others since a moment: half a millisecond, where a search through all processes
 * takes ten times as long. A child that lives is in the kernel's list of children; one that has ended was waited for,
 * and left its page faults with its parent. So whoever shows neither has had no child, and no grandchild by it.
 */
final class Offspring {

    private static final int CHILDREN_FAULTS = 8;

    private final Path process;
    private final long faultsBefore;

    Offspring(long pid) {
        process = Path.of("/proc", Long.toString(pid));
        faultsBefore = childrenFaults();
    }

    /** Says yes where the system does not tell. */
    boolean mayBe() {
        return faultsBefore < 0 || childrenFaults() != faultsBefore || hasLiveChild();
    }

    private long childrenFaults() {
        try {
            String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[CHILDREN_FAULTS]);
        } catch (IOException | RuntimeException e) {
            return -1;
        }
    }

    private boolean hasLiveChild() {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                if (hasLiveChild(thread)) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private static boolean hasLiveChild(Path thread) throws IOException {
        try {
            return !Files.readString(thread.resolve("children")).isBlank();
        } catch (IOException e) {
            // A thread that has just ended has none; a kernel without that list has to be asked the long way.
            return Files.exists(thread);
        }
    }
}
