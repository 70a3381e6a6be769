package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * One folder and what belongs where in it: {@code jobs/} is the user's, {@code .slothq/} is ours.
 * Parents are not searched: the folder is the one that was named.
 */
public record QueueFolder(Path root) {

    public QueueFolder {
        root = root.toAbsolutePath().normalize();
    }

    public Path jobs() {
        return root.resolve("jobs");
    }

    Path hidden() {
        return root.resolve(".slothq");
    }

    public Path database() {
        return hidden().resolve("queue.db");
    }

    Path logs() {
        return hidden().resolve("logs");
    }

    Path locks() {
        return hidden().resolve("locks");
    }

    Path cache() {
        return hidden().resolve("cache");
    }

    /** Given to hosted jobs, so that they compile: see {@link JobJar}. */
    Path jar() {
        return hidden().resolve("sloth.jar");
    }

    /** The output of one claim, as raw bytes. */
    public Path log(long id, int claim) {
        return logs().resolve(id + "." + claim + ".log");
    }

    Path states() {
        return hidden().resolve("state");
    }

    /** A job's own folder: lives across its attempts, and goes when it is done. */
    Path state(long id) {
        return states().resolve(Long.toString(id));
    }

    /** What the file system calls our part: stays when the folder is renamed, and is another one in a copy. */
    String place() {
        try {
            return String.valueOf(Files.readAttributes(hidden(), BasicFileAttributes.class).fileKey());
        } catch (IOException e) {
            return "";
        }
    }

    /** It has {@code jobs/} or {@code .slothq/}. */
    public boolean isQueue() {
        return Files.isDirectory(jobs()) || Files.isDirectory(hidden());
    }

    /** @throws SlothException (exit 2) naming {@code init} when this is no queue folder */
    public QueueFolder required() {
        if (!Files.isDirectory(root)) {
            throw SlothException.refused("no folder " + root);
        }
        if (!isQueue()) {
            throw SlothException.refused("no queue in " + root + ": it has neither jobs/ nor .slothq/; make one with 'slothq init'");
        }
        return this;
    }

    /** A file without a byte is how a new queue begins, and what is left of an old one that was cut off. */
    void refuseEmptied() {
        boolean empty = Files.exists(database()) && database().toFile().length() == 0
            && database().resolveSibling("queue.db-wal").toFile().length() == 0;
        String[] ran = empty ? logs().toFile().list() : null;
        if (ran != null && ran.length > 0) {
            throw SlothException.unusable(database() + " is empty, though jobs have run here; it was left as it is:"
                + " bring back a backup, or delete it to begin anew", null);
        }
    }

    /** The folder of job files, made where there is none. */
    Path makeJobs() {
        try {
            return Files.createDirectories(jobs());
        } catch (FileAlreadyExistsException e) {
            throw inTheWay(jobs(), e);
        } catch (IOException e) {
            throw Trouble.of(jobs(), e);
        }
    }

    private static SlothException inTheWay(Path file, IOException e) {
        return SlothException.unusable(file + " is a file, where slothq keeps a folder; move it away", e);
    }

    /** Makes our part, with a {@code .gitignore} that keeps the user's repository clean. */
    QueueFolder prepare() {
        try {
            Files.createDirectories(hidden());
            for (Path folder : new Path[] {logs(), locks(), cache(), states()}) {
                Files.createDirectories(folder);
            }
            Path ignore = hidden().resolve(".gitignore");
            if (!Files.exists(ignore)) {
                Files.writeString(ignore, "*\n");
            }
            return this;
        } catch (FileAlreadyExistsException e) {
            throw inTheWay(Path.of(e.getFile()), e);
        } catch (IOException e) {
            throw Trouble.of(hidden(), e);
        }
    }

    /** What cannot be deleted now stays: it harms nobody, and {@code prune} comes by again. */
    static void deleteTree(Path folder) {
        if (!Files.isDirectory(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path p : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                Files.deleteIfExists(p);
            }
        } catch (IOException | UncheckedIOException e) {
            return;
        }
    }
}
