package sloth;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/** Knows for each kind of job how it is started. */
final class Launcher {

    /** It cannot be started: the outcome says why, and the text goes to its log. */
    static final class CannotStart extends Exception {
        final transient Outcome outcome;

        CannotStart(Outcome outcome) {
            super(outcome.message());
            this.outcome = outcome;
        }
    }

    private final QueueFolder folder;
    private final Builds builds;
    private final Hosts hosts;
    private final LongSupplier awakeNanos;
    private final OutputStream echo;
    private boolean hasJobJar;

    /** @param echo where jobs' output is shown, null for nowhere; @param say hears of builds that take a while */
    Launcher(QueueFolder folder, Hosts hosts, LongSupplier awakeNanos, OutputStream echo, Consumer<String> say) {
        this.folder = folder;
        this.builds = new Builds(new JBangBuild(folder.cache(), say));
        this.hosts = hosts;
        this.awakeNanos = awakeNanos;
        this.echo = echo;
    }

    /** The job file of a claim, as it is now. @throws CannotStart when it is gone or cannot be run */
    JobFile file(JobRecord job) throws CannotStart {
        Path path = folder.jobs().resolve(job.job());
        if (!Files.isRegularFile(path)) {
            throw givesUp("jobs/" + job.job() + " is gone");
        }
        JobFile file = JobFile.read(path);
        if (file.kind() == null) {
            throw givesUp(file.problem());
        }
        return file;
    }

    /** Makes all ready: nothing of the job runs before {@link Execution#begin}. */
    Execution start(Lease lease, JobFile file, String mark, Hosts.Services services) throws CannotStart, InterruptedException {
        Output output = null;
        try {
            output = new Output(new OutputLog(folder.log(lease.id(), lease.claim())), echo, awakeNanos);
            if (lease.claim() == 1) { // another job had this number, before a backup was brought back
                QueueFolder.deleteTree(folder.state(lease.id()));
            }
            Map<String, String> environment = environment(lease, mark);
            if (file == null) {
                return process(lease.job().command(), lease, environment, mark, output);
            }
            return switch (file.kind()) {
                case SCRIPT -> process(script(file, lease), lease, environment, mark, output);
                case JAVA, HOSTED, KOTLIN, GROOVY, JSHELL, MARKDOWN -> built(file, lease, environment, mark, output, services);
            };
        } catch (CannotStart e) {
            keep(output, e.getMessage());
            throw e;
        } catch (NoSuchFileException e) {
            CannotStart gone = givesUp("jobs/" + lease.job().job() + " is gone");
            keep(output, gone.getMessage());
            throw gone;
        } catch (InterruptedException e) {
            keep(output, "stopped before it began");
            throw e;
        } catch (IOException | RuntimeException e) {
            // Whatever it is, it must not stop the other jobs.
            keep(output, String.valueOf(e.getMessage()));
            boolean full = e instanceof IOException io && Trouble.isFull(io);
            throw new CannotStart(full ? new Outcome.NotNow("the disk is full") : notStarted(e));
        }
    }

    static Outcome notStarted(Exception e) {
        return new Outcome.Failed("cannot be started: " + e.getMessage(), Map.of("reason", "cannot be started"));
    }

    private Execution built(JobFile file, Lease lease, Map<String, String> environment, String mark, Output output, Hosts.Services services)
        throws IOException, CannotStart, InterruptedException {
        Program program = build(file);
        if (program.jobClass() != null) {
            return hosts.guest(program, lease, environment, mark, output, services);
        }
        List<String> argv = program.mainClass() == null ? jshell(program, lease) : program.command(lease.job().args());
        return process(argv, lease, environment, mark, output);
    }

    private JobProcess process(List<String> argv, Lease lease, Map<String, String> environment, String mark, Output output)
        throws IOException, CannotStart {
        Files.createDirectories(folder.state(lease.id()));
        if (Guard.which(argv.get(0), folder.root()) == null) {
            throw new CannotStart(new Outcome.Failed("no program '" + argv.get(0) + "' is found or may be run",
                Map.of("reason", "no such program")));
        }
        return JobProcess.start(argv, folder.root(), environment, mark, output);
    }

    private static List<String> script(JobFile file, Lease lease) throws IOException {
        List<String> argv = new ArrayList<>();
        if (!Files.isExecutable(file.path())) {
            argv.addAll(file.interpreter());
        }
        argv.add(file.path().toString());
        argv.addAll(lease.job().args());
        return argv;
    }

    /** Half the start-up time; before the file's own options, so that a script that computes for long can say otherwise. */
    private static final List<String> QUICK_START = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private List<String> jshell(Program program, Lease lease) {
        List<String> args = new ArrayList<>();
        args.add(program.scripts().stream().map(p -> folder.root().relativize(p.toAbsolutePath()).toString())
            .collect(Collectors.joining(File.pathSeparator)));
        args.addAll(lease.job().args());
        List<String> command = program.command(List.of(ourClasses()), JshMain.class.getName(), args);
        command.addAll(1, QUICK_START);
        return command;
    }

    private Program build(JobFile file) throws CannotStart, IOException, InterruptedException {
        writeJobJarOnce();
        try {
            return builds.of(file.path());
        } catch (BuildTrouble.Failed e) {
            throw givesUp(e.getMessage());
        } catch (BuildTrouble.NotNow e) {
            throw new CannotStart(new Outcome.NotNow(e.getMessage()));
        }
    }

    /** What hosted jobs compile against must be this version's. */
    private synchronized void writeJobJarOnce() throws IOException {
        if (!hasJobJar) {
            JobJar.write(folder);
            hasJobJar = true;
        }
    }

    private static CannotStart givesUp(String why) {
        return new CannotStart(new Outcome.GaveUp(why, Map.of("reason", why.lines().findFirst().orElse(""))));
    }

    private static void keep(Output output, String text) {
        if (output != null) {
            output.note(text + "\n");
        }
    }

    private Map<String, String> environment(Lease lease, String mark) {
        Map<String, String> env = new LinkedHashMap<>();
        env.put("SLOTHQ_ID", Long.toString(lease.id()));
        env.put("SLOTHQ_JOB", lease.job().title());
        env.put("SLOTHQ_ATTEMPT", Integer.toString(lease.attempt()));
        env.put("SLOTHQ_MAX_ATTEMPTS", Integer.toString(lease.job().options().attempts()));
        env.put("SLOTHQ_TOKEN", lease.token());
        env.put("SLOTHQ_FOLDER", folder.root().toString());
        env.put("SLOTHQ_STATE", folder.state(lease.id()).toString());
        env.put("SLOTHQ_RUN", mark);
        if (!Locales.isUtf8(System.getenv())) {
            env.put("LC_ALL", Locales.UTF8);
        }
        return env;
    }

    /** The jar that JBang made of us, or the folder of classes that a test runs from. */
    static Path ourClasses() {
        try {
            return Path.of(Launcher.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
