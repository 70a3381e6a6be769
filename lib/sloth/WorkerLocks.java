package sloth;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * Who is alive, by the kernel's word: each worker holds a lock on a file of its own for as long as it lives. The kernel
 * frees it on kill -9, power loss or reboot, and keeps it through SIGSTOP and sleep. No pid is trusted, no clock asked.
 *
 * <p>Locks belong to the whole process, and closing <em>any</em> channel on the file frees them: so a lock held in this
 * JVM is looked up here, its file never touched again.
 */
final class WorkerLocks {

    private static final Set<Path> HELD_HERE = new HashSet<>();

    private final Path folder;

    WorkerLocks(Path folder) {
        this.folder = folder;
    }

    /** Held until it is closed or this process ends. */
    record Held(Path file, FileChannel channel) implements AutoCloseable {
        @Override public void close() {
            synchronized (HELD_HERE) {
                try (channel) {
                    Files.deleteIfExists(file);
                } catch (IOException e) {
                    // An empty file stays behind, and its lock is free: that is all it has to say.
                } finally {
                    HELD_HERE.remove(file);
                }
            }
        }
    }

    Held take(String worker) {
        Path file = file(worker);
        synchronized (HELD_HERE) {
            // Asked here first: to open the file and close it again would free the lock that this process holds on it.
            if (HELD_HERE.contains(file)) {
                throw new IllegalStateException("two workers named " + worker);
            }
            try {
                FileChannel channel = FileChannel.open(file, CREATE, WRITE);
                if (channel.tryLock() == null) {
                    channel.close();
                    throw new IllegalStateException("two workers named " + worker);
                }
                HELD_HERE.add(file);
                return new Held(file, channel);
            } catch (IOException e) {
                throw Trouble.of(file, e);
            }
        }
    }

    /** True when nobody holds it: its worker is dead. A file that may not be opened counts as held, the careful answer. */
    boolean isFree(String worker) {
        Path file = file(worker);
        synchronized (HELD_HERE) {
            if (HELD_HERE.contains(file)) {
                return false;
            }
            try (FileChannel channel = FileChannel.open(file, WRITE); FileLock lock = channel.tryLock()) {
                return lock != null;
            } catch (NoSuchFileException e) {
                return true;
            } catch (IOException | OverlappingFileLockException e) {
                return false;
            }
        }
    }

    /** Clears away what a dead worker left. */
    void forget(String worker) {
        try {
            Files.deleteIfExists(file(worker));
        } catch (IOException e) {
            // An empty file, and free: it harms nobody.
        }
    }

    private Path file(String worker) {
        return folder.resolve(worker + ".lock").toAbsolutePath().normalize();
    }
}
