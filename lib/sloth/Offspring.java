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
    private static final int LOOKS_MOST = 10;

    private final Path process;
    private final long faultsBefore;

    Offspring(long pid) {
        process = Path.of("/proc", Long.toString(pid));
        faultsBefore = childrenFaults();
    }

    /** Says yes where the system does not tell. */
    boolean mayBe() {
        // In this order: a child that ends between the two looks shows in the second.
        return faultsBefore < 0 || hasLiveChild() || childrenFaults() != faultsBefore;
    }

    private long childrenFaults() {
        try {
            String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
            return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[CHILDREN_FAULTS]);
        } catch (IOException | RuntimeException e) {
            return -1;
        }
    }

    /** The kernel gives the children of a thread that ends to another one, which may have been looked at: then once more. */
    private boolean hasLiveChild() {
        for (int looks = 0; looks < LOOKS_MOST; looks++) {
            Boolean found = lookForChild();
            if (found != null) {
                return found;
            }
        }
        return true;
    }

    /** @return null when a thread ended meanwhile */
    private Boolean lookForChild() {
        boolean ended = false;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                try {
                    if (!Files.readString(thread.resolve("children")).isBlank()) {
                        return true;
                    }
                } catch (IOException e) {
                    if (Files.exists(thread)) { // a kernel without that list has to be asked the long way
                        return true;
                    }
                    ended = true;
                }
            }
            return ended ? null : false;
        } catch (IOException e) {
            return true;
        }
    }
}
