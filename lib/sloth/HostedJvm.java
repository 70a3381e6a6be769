package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

import static sloth.HostWire.Kind.*;

/** The worker's side of one {@link JobHost}. One guest at a time; when the JVM ends, so does the guest's attempt. */
final class HostedJvm implements AutoCloseable {

    /** A job that listens to {@code cancelled()} or to its interrupt has so long to end by itself. */
    private static final long LISTEN_MILLIS = 2_000;
    private static final int ACCEPT_POLL_MILLIS = 100;
    private static final int HELLO_MILLIS = 5_000;

    private final List<String> command;
    private final Process process;
    private final ProcessTree tree;
    private final HostWire wire;
    private volatile Guest guest;
    private long idleSince;

    private HostedJvm(List<String> command, Process process, ProcessTree tree, HostWire wire) {
        this.command = command;
        this.process = process;
        this.tree = tree;
        this.wire = wire;
    }

    static HostedJvm start(List<String> command, String jobClass, Path gsonJar, Path folder, Map<String, String> environment, String mark,
                           Output output) throws IOException {
        String secret = UUID.randomUUID().toString();
        Map<String, String> all = new HashMap<>(environment);
        all.put(JobHost.SECRET, secret);
        try (ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<String> argv = new ArrayList<>(command);
            // An OutOfMemoryError leaves a JVM in no state to trust: it ends, and that attempt with it.
            argv.add(1, "-XX:+ExitOnOutOfMemoryError");
            argv.addAll(List.of(Integer.toString(door.getLocalPort()), jobClass, gsonJar.toString()));
            Process process = Guard.start(argv, folder, all);
            Guard.open(process);
            ProcessTree tree = new ProcessTree(mark, process.pid(), ProcessTree.ticksOf(process.pid()));
            try {
                HostedJvm jvm = new HostedJvm(command, process, tree, accept(door, process, secret));
                jvm.readAll();
                return jvm;
            } catch (IOException e) {
                output.read(process.getInputStream(), process.getErrorStream(), jobClass);
                tree.end(ProcessTree.GRACE);
                output.drain();
                throw e;
            }
        }
    }

    private static HostWire accept(ServerSocket door, Process process, String secret) throws IOException {
        door.setSoTimeout(ACCEPT_POLL_MILLIS);
        while (true) {
            try {
                HostWire wire = known(door.accept(), secret);
                if (wire != null) {
                    return wire;
                }
            } catch (SocketTimeoutException e) {
                if (!process.isAlive()) {
                    throw new IOException("its JVM ended at once, with exit " + process.exitValue());
                }
                if (Thread.interrupted()) {
                    throw new InterruptedIOException("stopped before its JVM was there");
                }
            }
        }
    }

    /** @return null for somebody who lost his way: any process of this machine can connect */
    private static HostWire known(Socket socket, String secret) throws IOException {
        try {
            socket.setSoTimeout(HELLO_MILLIS);
            HostWire wire = new HostWire(socket);
            if (secret.equals(wire.receive().text(0))) {
                socket.setSoTimeout(0);
                return wire;
            }
        } catch (IOException | RuntimeException e) {
            // It said nothing, or nonsense.
        }
        socket.close();
        return null;
    }

    /** What the JVM itself or native code writes comes through its pipes, the job's own output through the wire. */
    private void readAll() {
        InputStream out = process.getInputStream();
        InputStream err = process.getErrorStream();
        start("host stdout", () -> pump(out));
        start("host stderr", () -> pump(err));
        start("host wire", this::listen);
        process.onExit().thenRun(() -> {
            Guest g = guest;
            if (g != null) {
                g.jvmEnded(process.exitValue());
            }
        });
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void pump(InputStream in) {
        byte[] buffer = new byte[1 << 13];
        try {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                Guest g = guest;
                if (g != null) {
                    g.output.err(buffer, n);
                }
            }
        } catch (IOException e) {
            // It has ended.
        }
    }

    private void listen() {
        try {
            while (true) {
                HostWire.Frame frame = wire.receive();
                Guest g = guest;
                if (g != null) {
                    g.take(frame);
                }
            }
        } catch (IOException | RuntimeException e) {
            // Without its wire it is of no use, alive or not.
            process.destroyForcibly();
        }
    }

    /** @param free takes this JVM back when the attempt has ended well enough */
    Execution guest(Lease lease, Path state, Output output, Hosts.Services services, Consumer<HostedJvm> free) {
        List<String> fields = new ArrayList<>(List.of(Long.toString(lease.id()), Integer.toString(lease.attempt()), state.toString()));
        fields.addAll(lease.job().args());
        Guest fresh = new Guest(fields, output, services, free);
        guest = fresh;
        if (!process.isAlive()) { // its end may have found no guest to tell
            fresh.jvmEnded(process.exitValue());
        }
        return fresh;
    }

    List<String> command() {
        return command;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void idleSince(long awakeNanos) {
        idleSince = awakeNanos;
    }

    long idleSince() {
        return idleSince;
    }

    @Override public void close() {
        try {
            wire.close();
        } catch (IOException e) {
            // The tree is ended all the same.
        }
        tree.end(ProcessTree.GRACE);
    }

    /** One attempt in this JVM. */
    private final class Guest implements Execution {

        private final List<String> fields;
        private final Output output;
        private final Hosts.Services services;
        private final Consumer<HostedJvm> free;
        private final CompletableFuture<Outcome> result = new CompletableFuture<>();
        private final Offspring offspring = new Offspring(process.pid());
        private boolean begun;
        private volatile boolean askedToEnd;
        private volatile boolean saidItself;
        /** Its threads go on, though it is not done: they would be a second attempt beside the next one. */
        private volatile boolean leavesThreads;

        Guest(List<String> fields, Output output, Hosts.Services services, Consumer<HostedJvm> free) {
            this.fields = fields;
            this.output = output;
            this.services = services;
            this.free = free;
        }

        @Override public void begin() {
            begun = true;
            try {
                wire.send(RUN, fields);
            } catch (IOException e) {
                // The JVM has ended, which is heard of by itself.
            }
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

        void take(HostWire.Frame f) throws IOException {
            switch (f.kind()) {
                case OUT -> output.out(f.fields().get(0), f.fields().get(0).length);
                case ERR -> output.err(f.fields().get(0), f.fields().get(0).length);
                case PROGRESS -> output.progress(new JobRecord.Progress(Long.parseLong(f.text(0)),
                    f.text(1).equals("0") ? null : (Long) Long.parseLong(f.text(1)), f.text(2)));
                case STEP, KEEP, ADD -> answer(f);
                case DONE -> said(new Outcome.Done(f.text(1) == null ? output.message() : f.text(1)), f);
                case NOT_NOW -> said(new Outcome.NotNow(f.text(1)), f);
                case GIVE_UP -> said(new Outcome.GaveUp(f.text(1), Map.of("reason", "gave up")), f);
                case FAILED -> said(new Outcome.Failed(f.text(1), Map.of("reason", "exception")), f);
                default -> throw new IOException("a host does not say " + f.kind());
            }
        }

        private void answer(HostWire.Frame f) throws IOException {
            try {
                switch (f.kind()) {
                    case STEP -> wire.send(ANSWER, services.step(f.text(0)).map(List::of).orElse(List.of()));
                    case KEEP -> wire.send(services.keepStep(f.text(0), f.text(1)) ? ANSWER : REFUSAL,
                        List.of("the lease was lost: this attempt no longer counts"));
                    default -> wire.send(ANSWER, List.of(Long.toString(services.add(f.text(0), f.texts(1)))));
                }
            } catch (SlothException e) {
                wire.send(REFUSAL, List.of(e.getMessage()));
            }
        }

        private void said(Outcome outcome, HostWire.Frame last) {
            leavesThreads = Boolean.parseBoolean(last.text(0)) && (askedToEnd || !(outcome instanceof Outcome.Done));
            saidItself = true;
            guest = null;
            result.complete(outcome);
        }

        void jvmEnded(int code) {
            guest = null;
            tree.end(ProcessTree.GRACE);
            result.complete(JobProcess.ExitCode.outcome(code, output));
        }

        @Override public boolean end() {
            if (begun && !result.isDone()) {
                askToEnd();
            }
            output.end();
            boolean keep = (saidItself && !leavesThreads || !begun) && isAlive();
            boolean gone = !keep ? tree.end(ProcessTree.GRACE)
                : !offspring.mayBe() || tree.without(process.pid()).end(ProcessTree.GRACE);
            if (keep && gone) {
                free.accept(HostedJvm.this);
            }
            return gone;
        }

        private void askToEnd() {
            askedToEnd = true;
            try {
                wire.send(CANCEL);
                result.get(LISTEN_MILLIS, TimeUnit.MILLISECONDS);
            } catch (IOException | TimeoutException | ExecutionException e) {
                // It does not listen: the tree is ended below.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
