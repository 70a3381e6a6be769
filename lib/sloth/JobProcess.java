package sloth;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** An attempt that is a process: it ends when its main process does, not when its pipes close. */
final class JobProcess implements Execution {

    private static final int SIGNAL_BASE = 128;

    private final Process process;
    private final ProcessTree tree;
    private final Output output;
    private final CompletableFuture<Outcome> result;
    private boolean gone;

    private JobProcess(Process process, ProcessTree tree, Output output) {
        this.process = process;
        this.tree = tree;
        this.output = output;
        // What it left behind is ended first: then the pipes close, and the last line is in. That may take a while, so it
        // has a thread of its own: the common pool is small.
        this.result = process.onExit().thenApplyAsync(p -> {
            end();
            return ExitCode.outcome(p.exitValue(), output);
        }, work -> new Thread(work, "end").start());
    }

    static JobProcess start(List<String> argv, Path folder, Map<String, String> environment, String mark, Output output)
        throws IOException {
        Process process = Guard.start(argv, folder, environment);
        output.read(process.getInputStream(), process.getErrorStream(), argv.get(0));
        return new JobProcess(process, new ProcessTree(mark, process.pid(), ProcessTree.ticksOf(process.pid())), output);
    }

    @Override public void begin() {
        Guard.open(process);
    }

    @Override public CompletableFuture<Outcome> result() {
        return result;
    }

    @Override public Output output() {
        return output;
    }

    @Override public ProcessTree tree() {
        return tree;
    }

    @Override public synchronized boolean end() {
        if (!gone) {
            gone = tree.end(ProcessTree.GRACE);
            output.drain();
        }
        return gone;
    }

    /** What an exit code says. */
    static final class ExitCode {

        /** From sysexits.h: the user's data is wrong, trying again does not help. */
        static final int DATAERR = 65;
        /** From sysexits.h: a temporary failure. */
        static final int TEMPFAIL = 75;

        private ExitCode() {
        }

        static Outcome outcome(int code, Output output) {
            return switch (code) {
                case 0 -> new Outcome.Done(output.message());
                case TEMPFAIL -> new Outcome.NotNow(output.message());
                case DATAERR -> new Outcome.GaveUp(told("gave up (exit 65)", output), Map.of("reason", "gave up", "exit", code));
                default -> new Outcome.Failed(told(name(code), output), Map.of("reason", name(code), "exit", code));
            };
        }

        private static String told(String what, Output output) {
            String line = output.anyLine();
            return line == null ? what : what + ": " + line;
        }

        private static String name(int code) {
            return code > SIGNAL_BASE && code <= SIGNAL_BASE + 64 ? "killed by signal " + (code - SIGNAL_BASE) : "exit " + code;
        }
    }
}
