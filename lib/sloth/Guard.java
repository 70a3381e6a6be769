package sloth;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts commands so that they do not outlive us: each leads a session and process group of its own, and a watcher
 * beside it kills that group as soon as our end of its stdin closes, which the kernel does however we die.
 *
 * <p>The command takes the place of the shell that starts the watcher: its pid is the group's, it is our child, its exit
 * code is its own, and it has no child that it does not know. The watcher is nobody's child and in a session of its own,
 * so that a job that kills or stops its group does not reach it.
 */
final class Guard {

    /**
     * The end of the input means one of two things. The job lives: then we are gone, and it goes too. The job's main
     * process is gone (the JDK closes the pipe once it has reaped it): then we end what is left of the group, and the
     * watcher only makes sure of it, long after we should have.
     */
    private static final String WATCH = """
        while read -r _; do :; done
        if kill -s 0 "$1" 2>/dev/null; then
          kill -s KILL -- "$1" -"$1"
        else
          n=0
          while [ $n -lt 20 ] && kill -s 0 -- -"$1"; do n=$((n + 1)); sleep 1; done
          kill -s KILL -- -"$1"
        fi""";

    /** Without the word at the gate, or when its end of the pipe closes, the command never starts. */
    private static final String START = """
        exec 3<&0 </dev/null
        watch=$1; shift
        read -r _ <&3 || exit 1
        ( SLOTHQ_RUN= %s sh -c "$watch" slothq-guard $$ <&3 >/dev/null 2>&1 3<&- & )
        exec 3<&-
        exec "$@"
        """;

    private static final List<String> NEW_SESSION = newSession();

    private Guard() {
    }

    /**
     * Starts a process that waits at a gate, with the pid and the environment that the command will have, until
     * {@link #open} lets the command take its place.
     *
     * @param environment added to ours; JBang's own variables are left out, since they would change how a script that
     *                    calls JBang behaves
     */
    static Process start(List<String> command, Path folder, Map<String, String> environment) throws IOException {
        List<String> argv = new ArrayList<>(NEW_SESSION);
        argv.addAll(List.of("sh", "-c", START.formatted(quoted(NEW_SESSION)), "slothq-guard", WATCH));
        argv.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(argv).directory(folder.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("JBANG_"));
        builder.environment().putAll(environment);
        return builder.start();
    }

    /** Should it have ended at the gate, its exit code says so. */
    static void open(Process process) {
        try {
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (IOException e) {
            // Somebody ended it there.
        }
    }

    /** Whether this machine has a way to give a job a group of its own. */
    static boolean canGroup() {
        return !NEW_SESSION.isEmpty();
    }

    /** The program of that name on PATH; null when there is none. */
    static Path which(String program) {
        return which(program, Path.of(""));
    }

    /** @param folder where it is started: a name with a slash is a path from there */
    static Path which(String program, Path folder) {
        if (program.indexOf('/') >= 0) {
            Path file = folder.resolve(program);
            return Files.isRegularFile(file) && Files.isExecutable(file) ? file : null;
        }
        String path = System.getenv("PATH");
        for (String place : (path == null ? "/usr/bin:/bin" : path).split(File.pathSeparator)) {
            Path file = Path.of(place.isEmpty() ? "." : place, program);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return file;
            }
        }
        return null;
    }

    /** macOS has no setsid command, but it has Perl. */
    private static List<String> newSession() {
        if (which("setsid") != null) {
            return List.of("setsid");
        }
        return which("perl") == null ? List.of() : List.of("perl", "-MPOSIX=setsid", "-e", "setsid; exec {$ARGV[0]} @ARGV or exit 127");
    }

    private static String quoted(List<String> words) {
        return String.join(" ", words.stream().map(w -> "'" + w.replace("'", "'\\''") + "'").toList());
    }
}
