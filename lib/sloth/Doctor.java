package sloth;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Looks a queue folder over, changes nothing, and says of each thing whether it is well and what to do if not. */
public final class Doctor {

    /** How much a finding matters. */
    public enum Verdict { OK, NOTE, BAD }

    /** @param name what was looked at; @param text one sentence */
    public record Finding(String name, Verdict verdict, String text) {
    }

    /** The finding that means that nothing can be done with this folder. */
    public static final String QUEUE_FILE = "queue file";
    private static final long WAL_BYTES_USUAL = 64L << 20;
    private static final long FREE_BYTES_LEAST = 50L << 20;
    private static final List<String> NETWORK = List.of("nfs", "cifs", "smb", "afp", "9p", "sshfs", "webdav", "davfs",
        "vboxsf", "prl_fs", "glusterfs", "ceph");
    private static final List<String> SYNCED = List.of("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents",
        "nextcloud", "owncloud", "syncthing");

    private final QueueFolder folder;
    private final Clock clock;
    private final List<Finding> findings = new ArrayList<>();

    public Doctor(QueueFolder folder, Clock clock) {
        this.folder = folder;
        this.clock = clock;
    }

    public List<Finding> examine() {
        jdk();
        system();
        place();
        files();
        try (SlothQueue queue = SlothQueue.look(folder)) {
            file(queue);
            check("jobs", () -> jobs(queue));
            check("clock", () -> clock(queue));
            check("hosts", () -> hosts(queue));
        } catch (SlothException e) {
            add(QUEUE_FILE, Verdict.BAD, e.getMessage());
        }
        jobFiles();
        return findings;
    }

    private void add(String name, Verdict verdict, String text) {
        findings.add(new Finding(name, verdict, text));
    }

    /** One part of a damaged file may still read well while another does not. */
    private void check(String name, Runnable work) {
        try {
            work.run();
        } catch (SlothException e) {
            add(name, Verdict.BAD, e.getMessage());
        }
    }

    private void jdk() {
        Path javac = Path.of(System.getProperty("java.home"), "bin", "javac");
        String version = System.getProperty("java.version") + " in " + System.getProperty("java.home");
        if (Files.exists(javac) || Files.exists(javac.resolveSibling("javac.exe"))) {
            add("java", Verdict.OK, "JDK " + version);
        } else {
            add("java", Verdict.BAD, "Java " + version + " has no compiler: .java jobs cannot be built; install a JDK");
        }
    }

    private void system() {
        if (!Guard.canGroup()) {
            add("processes", Verdict.BAD,
                "neither setsid nor perl is on PATH: a job's children may outlive it; install util-linux or perl");
        } else if (!Files.exists(Path.of("/proc/self/environ"))) {
            add("processes", Verdict.NOTE, "no /proc here: a job's process that leaves its group (setsid) cannot be found again");
        } else {
            add("processes", Verdict.OK, "jobs run in groups of their own, and what leaves them is found by its mark");
        }
        if (!Locales.isUtf8(System.getenv())) {
            add("locale", Verdict.NOTE, "the locale is not UTF-8; names that are not ASCII are refused; set LC_ALL=" + Locales.UTF8);
        }
    }

    private void place() {
        try {
            FileStore store = Files.getFileStore(folder.root());
            String type = store.type().toLowerCase(Locale.ROOT);
            boolean network = NETWORK.stream().anyMatch(type::contains);
            boolean synced = SYNCED.stream().anyMatch(folder.root().toString().toLowerCase(Locale.ROOT)::contains);
            if (network) {
                add("file system", Verdict.BAD, type
                    + " is a network file system: its locks cannot be trusted, and neither can a queue on it; use a local folder");
            } else if (synced) {
                add("file system", Verdict.BAD,
                    "the folder looks synced to other machines, which tears a database apart; use a folder that is not");
            } else if (store.getUsableSpace() < FREE_BYTES_LEAST) {
                add("disk", Verdict.BAD, "only " + (store.getUsableSpace() >> 20) + " MB are free; make space");
            } else {
                add("file system", Verdict.OK, type + ", " + (store.getUsableSpace() >> 20) + " MB free");
            }
        } catch (IOException e) {
            add("file system", Verdict.BAD, "cannot be asked: " + e.getMessage());
        }
    }

    private void files() {
        for (Path p : List.of(folder.root(), folder.hidden(), folder.database())) {
            if (Files.exists(p) && !Files.isWritable(p)) {
                add("rights", Verdict.BAD, p + " cannot be written; give yourself the right to");
            }
        }
        Path temp = Path.of(System.getProperty("java.io.tmpdir"));
        if (!Files.isWritable(temp)) {
            add("temp folder", Verdict.BAD, temp + " cannot be written; set TMPDIR to a folder that can");
        }
    }

    private void file(SlothQueue queue) {
        if (!Files.exists(folder.database())) {
            add(QUEUE_FILE, Verdict.OK, "none yet; the first 'slothq run' or 'add' makes it");
            return;
        }
        check("integrity", () -> {
            List<String> words = queue.overview().integrity();
            if (words.equals(List.of("ok"))) {
                add("integrity", Verdict.OK, folder.database() + " is sound");
            } else {
                String what = words.get(0).lines().findFirst().orElse("");
                add("integrity", Verdict.BAD, folder.database() + " is damaged (" + what
                    + "); bring back a backup, or save what it holds with sqlite3's .recover");
            }
        });
        check("ledger", () -> {
            List<Long> wrong = queue.overview().contradictions();
            add("ledger", wrong.isEmpty() ? Verdict.OK : Verdict.BAD, wrong.isEmpty() ? "tells the same as the jobs' rows"
                : "tells another story of job " + wrong.get(0) + " than its row: somebody changed the file by hand");
        });
        long wal = folder.database().resolveSibling("queue.db-wal").toFile().length();
        if (wal > WAL_BYTES_USUAL) {
            add("wal", Verdict.NOTE, "queue.db-wal has grown to " + (wal >> 20) + " MB; it shrinks when all slothq processes have ended");
        }
    }

    private void jobs(SlothQueue queue) {
        List<JobRecord> stranded = queue.overview().stranded();
        int strays = queue.strays().size();
        if (!stranded.isEmpty()) {
            add("jobs", Verdict.NOTE, stranded.size() + " stranded (first: " + stranded.get(0).id()
                + "): the next 'slothq run' takes them up");
        } else if (strays > 0) {
            add("jobs", Verdict.NOTE, "processes of " + strays + " ended claims may still live: the next 'slothq run' ends them");
        } else {
            add("jobs", Verdict.OK, "none is stranded");
        }
    }

    private void clock(SlothQueue queue) {
        long ahead = queue.overview().newestEvent() - clock.millis();
        if (ahead <= 0) {
            add("clock", Verdict.OK, "not behind what was written last");
        } else {
            add("clock", Verdict.NOTE, "the clock is " + Durations.roughly(Duration.ofMillis(ahead))
                + " behind what was written last; waits are cut to their own length at the next step");
        }
    }

    private void hosts(SlothQueue queue) {
        queue.workers().stream().filter(w -> !w.host().isSameMachine(Host.here())).findFirst().ifPresent(w ->
            add("hosts", Verdict.BAD, "a worker of another machine (" + w.host().name() + ") uses this folder:"
                + " it cannot be asked whether it lives, only its lease counts; use one folder a machine"));
    }

    private void jobFiles() {
        try {
            for (JobFile f : JobFile.all(folder)) {
                if (f.problem() != null) {
                    add("job file", Verdict.BAD, f.problem());
                }
            }
        } catch (SlothException e) {
            add("job files", Verdict.BAD, e.getMessage());
        }
        leftOvers().forEach(p -> add("left over", Verdict.NOTE, p + " is from a kill in the middle; it may be deleted"));
    }

    private List<Path> leftOvers() {
        Supplier<Stream<Path>> none = Stream::of;
        try (Stream<Path> all = Files.isDirectory(folder.hidden()) ? Files.list(folder.hidden()) : none.get()) {
            return all.filter(p -> p.getFileName().toString().endsWith(".tmp")).toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
