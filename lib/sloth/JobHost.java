package sloth;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;

import static sloth.HostWire.Kind.*;

/**
 * The JVM of a hosted job: runs one attempt after another and tells its worker. When the worker's end of the socket
 * closes, it halts. {@code java … sloth.JobHost PORT JOBCLASS GSON_JAR}, the secret in {@code SLOTHQ_HOST_SECRET}.
 */
final class JobHost {

    static final String SECRET = "SLOTHQ_HOST_SECRET";

    private final HostWire wire;
    private final Class<?> jobClass;
    private final StepCodec codec;
    private final BlockingQueue<HostWire.Frame> answers = new LinkedBlockingQueue<>();
    private volatile Guest guest;

    private JobHost(HostWire wire, Class<?> jobClass, StepCodec codec) {
        this.wire = wire;
        this.jobClass = jobClass;
        this.codec = codec;
    }

    public static void main(String[] args) throws Exception {
        HostWire wire = new HostWire(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])));
        wire.send(HELLO, List.of(System.getenv(SECRET)));
        System.setOut(stream(wire, OUT));
        System.setErr(stream(wire, ERR));
        // What it does when it is initialized is the job's work already.
        Class<?> job = Class.forName(args[1], false, JobHost.class.getClassLoader());
        new JobHost(wire, job, new StepCodec(Path.of(args[2]))).serve();
    }

    private void serve() {
        try {
            while (true) {
                HostWire.Frame frame = wire.receive();
                switch (frame.kind()) {
                    case RUN -> begin(frame);
                    case CANCEL -> cancel();
                    default -> answers.add(frame);
                }
            }
        } catch (IOException e) {
            // The worker is gone. Whatever the job still does no longer counts.
            Runtime.getRuntime().halt(1);
        }
    }

    private void begin(HostWire.Frame run) {
        Guest fresh = new Guest(Long.parseLong(run.text(0)), Integer.parseInt(run.text(1)), Path.of(run.text(2)), run.texts(3));
        guest = fresh;
        fresh.thread = new Thread(new ThreadGroup("job " + fresh.id), () -> run(fresh), "job");
        fresh.thread.start();
    }

    private void cancel() {
        guest.cancelled = true;
        guest.thread.interrupt();
    }

    private void run(Guest context) {
        answers.clear();
        try {
            Object result = fresh().run(context);
            end(context, DONE, result == null ? null : result.toString());
        } catch (NotNow e) {
            end(context, NOT_NOW, e.getMessage());
        } catch (GiveUp e) {
            end(context, GIVE_UP, e.getMessage());
        } catch (Throwable e) {
            e.printStackTrace();
            end(context, FAILED, e.toString());
        }
    }

    private Job fresh() throws Throwable {
        try {
            Constructor<?> constructor = jobClass.getDeclaredConstructor();
            constructor.setAccessible(true);
            return (Job) constructor.newInstance();
        } catch (InvocationTargetException e) {
            throw e.getCause();
        } catch (NoSuchMethodException e) {
            throw new GiveUp(jobClass.getName() + " needs a constructor without parameters");
        }
    }

    private void end(Guest context, HostWire.Kind kind, String message) {
        context.over = true;
        String goesOn = Boolean.toString(context.thread.getThreadGroup().activeCount() > 1);
        try {
            System.out.flush();
            System.err.flush();
            wire.send(kind, message == null ? List.of(goesOn) : List.of(goesOn, message));
        } catch (IOException e) {
            Runtime.getRuntime().halt(1);
        }
    }

    private static PrintStream stream(HostWire wire, HostWire.Kind kind) {
        OutputStream frames = new OutputStream() {
            @Override public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override public void write(byte[] bytes, int from, int length) throws IOException {
                wire.send(kind, Arrays.copyOfRange(bytes, from, from + length));
            }
        };
        return new PrintStream(new BufferedOutputStream(frames, 1 << 13), true, StandardCharsets.UTF_8);
    }

    /** The context of one attempt. */
    private final class Guest implements JobContext {

        private final long id;
        private final int attempt;
        private final Path state;
        private final List<String> args;
        private volatile boolean cancelled;
        /** A thread that it left behind must not speak for the next job of this JVM. */
        private volatile boolean over;
        private Thread thread;

        Guest(long id, int attempt, Path state, List<String> args) {
            this.id = id;
            this.attempt = attempt;
            this.state = state;
            this.args = args;
        }

        @Override public long id() {
            return id;
        }

        @Override public int attempt() {
            return attempt;
        }

        @Override public List<String> args() {
            return args;
        }

        @Override public Path state() {
            try {
                return Files.createDirectories(state);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override public boolean cancelled() {
            return cancelled;
        }

        @Override public void progress(long done, long total, String note) {
            tell(PROGRESS, note == null ? List.of("" + done, "" + total) : List.of("" + done, "" + total, note));
        }

        @Override public long add(String job, String... more) {
            List<String> fields = new ArrayList<>(List.of(job));
            fields.addAll(List.of(more));
            return Long.parseLong(ask(ADD, fields).text(0));
        }

        @Override public <T> T step(String name, Class<T> type, Callable<T> work) throws Exception {
            String kept = ask(STEP, List.of(name)).text(0);
            if (kept == null) {
                kept = codec.encode(work.call());
                ask(KEEP, List.of(name, kept));
            }
            return codec.decode(kept, type);
        }

        @SuppressWarnings("unchecked")
        @Override public <T> T step(String name, Callable<T> work) throws Exception {
            return (T) step(name, Object.class, (Callable<Object>) work::call);
        }

        private void tell(HostWire.Kind kind, List<String> fields) {
            if (over) {
                throw new IllegalStateException("attempt " + attempt + " of job " + id + " is over");
            }
            try {
                wire.send(kind, fields);
            } catch (IOException e) {
                throw new IllegalStateException("the worker is gone", e);
            }
        }

        /** One question at a time, so that each gets its own answer. */
        private HostWire.Frame ask(HostWire.Kind kind, List<String> fields) {
            synchronized (answers) {
                try {
                    tell(kind, fields);
                    HostWire.Frame answer = answers.take();
                    if (answer.kind() == REFUSAL) {
                        throw new IllegalStateException(answer.text(0));
                    }
                    return answer;
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("the attempt is ending", e);
                }
            }
        }
    }
}
