package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Everything that one attempt has started and that still lives: its process group and session, and on Linux whatever
 * carries its mark in the environment, wherever it went. A zombie that waits for its parent counts as gone.
 *
 * @param mark  the value of {@code SLOTHQ_RUN}
 * @param group pid of the main process, which leads the group and the session; null when it is not known
 * @param ticks when that process started, in the kernel's ticks since boot; null when it is not known
 * @param spared a process that does not count; null for none
 */
record ProcessTree(String mark, Long group, Long ticks, Long spared) {

    ProcessTree(String mark, Long group, Long ticks) {
        this(mark, group, ticks, null);
    }

    /** All of it but one: the children that a guest left behind in a JVM that goes on. */
    ProcessTree without(long pid) {
        return new ProcessTree(mark, group, ticks, pid);
    }

    /** Between the request to end and the order. */
    static final Duration GRACE = Duration.ofSeconds(5);
    /** A process in an uninterruptible wait (a dead disk) does not even hear SIGKILL. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int SCANS_MOST = 5;
    private static final Path PROC = Path.of("/proc");
    private static final boolean HAS_PROC = Files.exists(PROC.resolve("self/stat"));

    private record Member(long pid, boolean inGroup) {
    }

    /** What the kernel says of a process: fields of /proc/PID/stat, or of ps. */
    private record Stat(long pid, char state, long group, long session, long ticks) {
        boolean isGone() {
            return state == 'Z' || state == 'X';
        }
    }

    boolean isGone() {
        return members().isEmpty();
    }

    /** Asks, waits for the grace, then kills, until nothing is left. @return false when something outlives even that */
    boolean end(Duration grace) {
        return !grace.isZero() && signalUntilGone("TERM", grace) || signalUntilGone("KILL", PATIENCE);
    }

    private boolean signalUntilGone(String signal, Duration most) {
        long start = System.nanoTime();
        long nextSignal = start;
        for (long pause = 5; ; pause = Math.min(pause * 2, 100)) {
            List<Member> members = members();
            if (members.isEmpty()) {
                return true;
            }
            long now = System.nanoTime();
            if (now - start > most.toNanos()) {
                return false;
            }
            // TERM once, for a job that counts them; KILL again and again, for one that forks faster than it dies.
            if (now >= nextSignal) {
                signal(signal, members);
                nextSignal = signal.equals("KILL") ? now : Long.MAX_VALUE;
            }
            pause(pause);
        }
    }

    private void signal(String signal, List<Member> members) {
        List<String> kill = new ArrayList<>(List.of("sh", "-c", "kill -s \"$0\" -- \"$@\"", signal));
        if (members.stream().anyMatch(Member::inGroup)) {
            kill.add("-" + group);
        }
        members.stream().filter(m -> !m.inGroup).forEach(m -> kill.add(Long.toString(m.pid)));
        try {
            Process p = new ProcessBuilder(kill).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            p.waitFor();
        } catch (IOException e) {
            members.forEach(m -> ProcessHandle.of(m.pid).ifPresent(ProcessHandle::destroyForcibly));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What ended during the look may have started another one that the look did not see: then once more. */
    private List<Member> members() {
        Scan scan = scan();
        for (int again = 0; again < SCANS_MOST && scan.members.isEmpty() && scan.vanished; again++) {
            scan = scan();
        }
        return scan.members;
    }

    /** @param vanished whether a process ended before its environment was read */
    private record Scan(List<Member> members, boolean vanished) {
    }

    private Scan scan() {
        List<Stat> all = HAS_PROC ? fromProc() : fromPs();
        boolean pidWasUsedAgain = ticks != null && all.stream().anyMatch(s -> s.pid == group && s.ticks != ticks);
        List<Member> members = new ArrayList<>();
        boolean vanished = false;
        for (Stat s : all) {
            // The kernel gives a pid out again only when no group or session is called by it any more.
            boolean inGroup = group != null && !pidWasUsedAgain && s.group == group;
            boolean inSession = group != null && !pidWasUsedAgain && s.session == group;
            if (s.isGone() || spared != null && s.pid == spared) {
                continue;
            }
            Boolean marked = inGroup || inSession ? Boolean.TRUE : carriesMark(s);
            if (marked == null) {
                vanished = true;
            } else if (marked) {
                members.add(new Member(s.pid, inGroup && spared == null));
            }
        }
        return new Scan(members, vanished);
    }

    /** @return null when it has ended meanwhile */
    private Boolean carriesMark(Stat s) {
        if (!HAS_PROC || ticks != null && s.ticks < ticks) {
            return false;
        }
        try {
            byte[] environment = Files.readAllBytes(PROC.resolve(s.pid + "/environ"));
            return contains(environment, ("SLOTHQ_RUN=" + mark + "\0").getBytes(StandardCharsets.UTF_8));
        } catch (AccessDeniedException e) {
            return false; // somebody else's
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean contains(byte[] all, byte[] part) {
        for (int i = 0; i + part.length <= all.length; i++) {
            boolean atStart = i == 0 || all[i - 1] == 0;
            if (atStart && Arrays.equals(all, i, i + part.length, part, 0, part.length)) {
                return true;
            }
        }
        return false;
    }

    /**
     * When the process started, in the kernel's ticks since boot; null where the system does not tell. Unlike a wall
     * time it never shifts.
     */
    static Long ticksOf(long pid) {
        Stat s = stat(pid);
        return s == null ? null : s.ticks;
    }

    /** Stopped (SIGSTOP, Ctrl-Z): it lives, but cannot hear. */
    static boolean isStopped(long pid) {
        Stat s = stat(pid);
        return s != null && (s.state == 'T' || s.state == 't');
    }

    private static Stat stat(long pid) {
        try {
            String text = Files.readString(PROC.resolve(pid + "/stat"), StandardCharsets.ISO_8859_1);
            // The name may hold spaces and brackets: the fields start behind its last bracket.
            String[] f = text.substring(text.lastIndexOf(')') + 2).split(" ");
            return new Stat(pid, f[0].charAt(0), Long.parseLong(f[2]), Long.parseLong(f[3]), Long.parseLong(f[19]));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    private static List<Stat> fromProc() {
        List<Stat> all = new ArrayList<>();
        try (DirectoryStream<Path> pids = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path p : pids) {
                Stat s = stat(Long.parseLong(p.getFileName().toString()));
                if (s != null) {
                    all.add(s);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return all;
    }

    private static List<Stat> fromPs() {
        List<Stat> all = new ArrayList<>();
        try {
            Process ps = new ProcessBuilder("ps", "-axo", "pid=,pgid=,stat=").start();
            for (String line : new String(ps.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                String[] f = line.strip().split("\\s+");
                all.add(new Stat(Long.parseLong(f[0]), f[2].charAt(0), Long.parseLong(f[1]), -1, 0));
            }
        } catch (IOException | RuntimeException e) {
            // No ps: then nothing can be said, and the guard's work has to do.
        }
        return all;
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            // Ending processes is what an interrupted worker still has to do.
            Thread.currentThread().interrupt();
        }
    }
}
