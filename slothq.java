///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 17+
//DEPS com.google.code.gson:gson:2.14.0
//DEPS org.xerial:sqlite-jdbc:3.54.1.0
//DEPS info.picocli:picocli:4.7.7
//DEPS me.tongfei:progressbar:0.10.1
//DEPS dev.jbang:jbang-cli:0.132.1:all@fatjar
//JAVAC_OPTIONS -XDstringConcat=inline
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED
//RUNTIME_OPTIONS -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto
//SOURCES lib/sloth/Awake.java
//SOURCES lib/sloth/Backoff.java
//SOURCES lib/sloth/BatchBar.java
//SOURCES lib/sloth/BuildTrouble.java
//SOURCES lib/sloth/Builds.java
//SOURCES lib/sloth/Cancelling.java
//SOURCES lib/sloth/Clock.java
//SOURCES lib/sloth/Db.java
//SOURCES lib/sloth/Discovery.java
//SOURCES lib/sloth/Doctor.java
//SOURCES lib/sloth/Durations.java
//SOURCES lib/sloth/Event.java
//SOURCES lib/sloth/Evidence.java
//SOURCES lib/sloth/Execution.java
//SOURCES lib/sloth/GiveUp.java
//SOURCES lib/sloth/Guard.java
//SOURCES lib/sloth/Host.java
//SOURCES lib/sloth/HostWire.java
//SOURCES lib/sloth/HostedJvm.java
//SOURCES lib/sloth/Hosts.java
//SOURCES lib/sloth/JBangBuild.java
//SOURCES lib/sloth/JdksHere.java
//SOURCES lib/sloth/Job.java
//SOURCES lib/sloth/JobAlone.java
//SOURCES lib/sloth/JobCompiler.java
//SOURCES lib/sloth/JobContext.java
//SOURCES lib/sloth/JobFile.java
//SOURCES lib/sloth/JobHead.java
//SOURCES lib/sloth/JobHost.java
//SOURCES lib/sloth/JobJar.java
//SOURCES lib/sloth/JobProcess.java
//SOURCES lib/sloth/JobRecord.java
//SOURCES lib/sloth/JobRow.java
//SOURCES lib/sloth/JshEngine.java
//SOURCES lib/sloth/JshMain.java
//SOURCES lib/sloth/JshPiece.java
//SOURCES lib/sloth/JshScript.java
//SOURCES lib/sloth/Json.java
//SOURCES lib/sloth/Launcher.java
//SOURCES lib/sloth/Lease.java
//SOURCES lib/sloth/Ledger.java
//SOURCES lib/sloth/LineReader.java
//SOURCES lib/sloth/Locales.java
//SOURCES lib/sloth/LogReader.java
//SOURCES lib/sloth/NativeLibrary.java
//SOURCES lib/sloth/Nearest.java
//SOURCES lib/sloth/NewJob.java
//SOURCES lib/sloth/NotNow.java
//SOURCES lib/sloth/Offspring.java
//SOURCES lib/sloth/Options.java
//SOURCES lib/sloth/Outcome.java
//SOURCES lib/sloth/Output.java
//SOURCES lib/sloth/OutputLog.java
//SOURCES lib/sloth/Overview.java
//SOURCES lib/sloth/ProcessTree.java
//SOURCES lib/sloth/Program.java
//SOURCES lib/sloth/Pulse.java
//SOURCES lib/sloth/QueueFile.java
//SOURCES lib/sloth/QueueFolder.java
//SOURCES lib/sloth/Repl.java
//SOURCES lib/sloth/Roster.java
//SOURCES lib/sloth/RunScreen.java
//SOURCES lib/sloth/Running.java
//SOURCES lib/sloth/Schema.java
//SOURCES lib/sloth/Shapes.java
//SOURCES lib/sloth/SlothException.java
//SOURCES lib/sloth/SlothQueue.java
//SOURCES lib/sloth/State.java
//SOURCES lib/sloth/StatusText.java
//SOURCES lib/sloth/StepCodec.java
//SOURCES lib/sloth/Template.java
//SOURCES lib/sloth/Terminal.java
//SOURCES lib/sloth/TextLines.java
//SOURCES lib/sloth/Times.java
//SOURCES lib/sloth/Trouble.java
//SOURCES lib/sloth/Watch.java
//SOURCES lib/sloth/Worker.java
//SOURCES lib/sloth/WorkerLocks.java

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import sloth.Cancelling;
import sloth.Clock;
import sloth.Doctor;
import sloth.Durations;
import sloth.JobFile;
import sloth.JobRecord;
import sloth.Locales;
import sloth.LogReader;
import sloth.Nearest;
import sloth.NewJob;
import sloth.Options;
import sloth.QueueFolder;
import sloth.Repl;
import sloth.RunScreen;
import sloth.Shapes;
import sloth.SlothException;
import sloth.SlothQueue;
import sloth.State;
import sloth.StatusText;
import sloth.Template;
import sloth.Terminal;
import sloth.Terminal.Tone;
import sloth.Times;
import sloth.Worker;

/** The command line: each command parses, calls the library, prints. Exit codes: 0 fine, 1 no, 2 refused, 3 unusable. */
@Command(name = "slothq", sortOptions = false, usageHelpAutoWidth = true, commandListHeading = "%nCommands:%n",
    descriptionHeading = "%n", optionListHeading = "%n",
    synopsisSubcommandLabel = "COMMAND",
    header = "A patient job queue for one folder.",
    description = {"Finds the job files in jobs/ and runs them from a queue in one SQLite file,",
        ".slothq/queue.db. A laptop that sleeps, a kill -9, a power cut or a clock that",
        "jumps neither loses a job nor runs one twice at once."},
    footer = {"%nWithout a command: status. Exit codes: 0 fine, 1 a job failed, 2 it cannot be asked for, 3 the queue cannot be used."})
public class slothq implements Callable<Integer> {

    private static final List<String> COMMANDS = List.of("run", "add", "status", "list", "show", "log", "wait", "jobs", "retry",
        "cancel", "prune", "init", "new", "doctor", "backup", "repl", "completion");

    static final int FINE = 0;
    static final int NO = 1;

    @Option(names = "-C", paramLabel = "DIR", scope = ScopeType.INHERIT,
        description = "The queue folder; the current one when it is not given.")
    Path directory;

    @Option(names = "--json", scope = ScopeType.INHERIT, description = "Print JSON.")
    boolean json;

    @Option(names = "--debug", scope = ScopeType.INHERIT, description = "Show the stack trace of an error.")
    boolean debug;

    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT, description = "Show this help.")
    boolean help;

    @Option(names = "--version", versionHelp = true, description = "Show the version.")
    boolean version;

    final Terminal terminal = new Terminal();

    public static void main(String... args) {
        SlothQueue.loadAhead();
        System.exit(run(args));
    }

    static int run(String... args) {
        slothq app = new slothq();
        if (Locales.mayHaveLost(args) || Locales.mayHaveLost(System.getProperty("user.dir"))) {
            app.terminal.err.println("slothq: an argument or the folder's name is not ASCII and the locale is not UTF-8,"
                + " so it would be changed; set LC_ALL=C.UTF-8 and try again");
            return SlothException.REFUSED;
        }
        CommandLine line = new CommandLine(app);
        // What is set below goes for the subcommands that are there by then.
        wanted(List.of(args)).forEach(name -> line.addSubcommand(name, command(name)));
        line.setOut(new PrintWriter(app.terminal.out, true))
            .setErr(new PrintWriter(app.terminal.err, true))
            .registerConverter(State.class, slothq::state)
            .setParameterExceptionHandler(app::badUsage)
            .setExecutionExceptionHandler((e, command, parsed) -> app.failed(e));
        line.getCommandSpec().version("slothq " + VERSION);
        line.getSubcommands().values().forEach(sub -> sub.getCommandSpec().usageMessage()
            .sortOptions(false).descriptionHeading("%n").parameterListHeading("%n").optionListHeading("%n"));
        // Options that are not ours are the job's: 'add thumbs --small a.jpg'. One that is ours goes to it behind a '--'.
        Optional.ofNullable(line.getSubcommands().get("add")).ifPresent(add -> add.setUnmatchedOptionsArePositionalParams(true));
        int code = line.execute(args);
        Optional<String> trouble = app.terminal.trouble();
        trouble.ifPresent(why -> app.terminal.err.println("slothq: not all of it could be written to standard output: " + why));
        return trouble.isPresent() && code == FINE ? SlothException.UNUSABLE : code;
    }

    /** The one that was typed, where that is clear: picocli needs 60 ms to read the annotations of all. */
    private static List<String> wanted(List<String> args) {
        List<String> typed = COMMANDS.stream().filter(args::contains).toList();
        boolean all = typed.size() != 1 || typed.contains("completion") || args.contains("-h") || args.contains("--help");
        return all ? COMMANDS : typed;
    }

    /** A switch, since it loads only the class that it gives. */
    private static Class<? extends Sub> command(String name) {
        return switch (name) {
            case "run" -> Run.class;
            case "add" -> Add.class;
            case "status" -> Status.class;
            case "list" -> ListJobs.class;
            case "show" -> Show.class;
            case "log" -> Log.class;
            case "wait" -> Wait.class;
            case "jobs" -> Jobs.class;
            case "retry" -> Retry.class;
            case "cancel" -> Cancel.class;
            case "prune" -> Prune.class;
            case "init" -> Init.class;
            case "new" -> New.class;
            case "doctor" -> Examine.class;
            case "backup" -> Backup.class;
            case "repl" -> Shell.class;
            case "completion" -> Completion.class;
            default -> throw new IllegalArgumentException(name);
        };
    }

    static final String VERSION = "0.1.0";

    private int badUsage(CommandLine.ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandName();
        String wrong = wrong(e);
        String help = "; see 'slothq " + (command.equals("slothq") ? "" : command + " ") + "--help'";
        terminal.err.println("slothq: " + wrong + (wrong.endsWith("?") ? "" : help));
        return SlothException.REFUSED;
    }

    private static State state(String word) {
        return Arrays.stream(State.values()).filter(s -> s.word().equalsIgnoreCase(word)).findFirst().orElseThrow(() ->
            new CommandLine.TypeConversionException("'" + word + "' is none of pending, claimed, done, failed, cancelled"));
    }

    private static String wrong(CommandLine.ParameterException e) {
        if (!(e instanceof CommandLine.UnmatchedArgumentException u) || u.getUnmatched().isEmpty()) {
            return oneLine(e.getMessage()).replaceAll("is not an? (int|long)$", "is not a whole number").replaceFirst("^Error: ", "");
        }
        String word = u.getUnmatched().get(0);
        CommandLine.Model.CommandSpec spec = e.getCommandLine().getCommandSpec();
        boolean isOption = word.startsWith("-");
        boolean isCommand = !isOption && !spec.subcommands().isEmpty();
        var known = isOption ? spec.optionsMap().keySet() : isCommand ? spec.subcommands().keySet() : List.<String>of();
        return (isOption ? "unknown option '" : isCommand ? "unknown command '" : "one argument too many: '") + word + "'"
            + Nearest.of(word, known).map(n -> "; did you mean '" + n + "'?").orElse("");
    }

    private int failed(Exception e) {
        boolean known = e instanceof SlothException || e instanceof IllegalArgumentException || e instanceof IOException;
        terminal.err.println("slothq: " + (known ? oneLine(e.getMessage()) : "a bug: " + oneLine(e.toString()) + "; --debug shows where"));
        if (debug) {
            e.printStackTrace(terminal.err);
        }
        return e instanceof SlothException s ? s.exitCode()
            : e instanceof IllegalArgumentException ? SlothException.REFUSED : SlothException.UNUSABLE;
    }

    private static String oneLine(String text) {
        return String.valueOf(text).replaceAll("\\s*[\\r\\n]+\\s*", " ");
    }

    @Override public Integer call() {
        return Status.print(this);
    }

    QueueFolder folder() {
        return new QueueFolder(directory == null ? Path.of("") : directory);
    }

    /** To change something: the folder must be a queue already. */
    SlothQueue open() {
        return SlothQueue.open(folder().required().root());
    }

    SlothQueue look() {
        return SlothQueue.look(folder().required());
    }

    /** @return whether it said so */
    boolean sayWhenNobodyWorks(SlothQueue queue) {
        boolean nobody = !queue.hasLiveWorker();
        if (nobody) {
            terminal.err.println("slothq: no worker runs in " + queue.folder().root() + "; start one with 'slothq run'");
        }
        return nobody;
    }

    int print(Object shape) {
        terminal.out.println(Shapes.text(shape));
        return FINE;
    }

    /** What the commands share. */
    abstract static class Sub implements Callable<Integer> {
        @CommandLine.ParentCommand
        slothq app;
    }

    // ---- run

    @Command(description = "Find the job files and run what is due, until nothing is left within the patience.")
    static class Run extends Sub {

        @Parameters(paramLabel = "JOB", description = "Only these job files; one that has nothing pending is added first, changed or not.")
        List<String> jobs = List.of();

        @Option(names = {"-v", "--verbose"}, description = "Show the jobs' output, on stderr.")
        boolean verbose;

        @Option(names = "--patience", paramLabel = "TIME", defaultValue = "5m",
            description = "Wait for a job that falls due within so long; ${DEFAULT-VALUE}.")
        String patience;

        @Option(names = "--no-wait", description = "Run what is due now and wait for nothing.")
        boolean noWait;

        @Option(names = "--watch", description = "Stay, and take up new and changed files.")
        boolean watch;

        @Option(names = "--parallel", paramLabel = "N", defaultValue = "1",
            description = "Run so many jobs at the same time, up to 64; ${DEFAULT-VALUE}.")
        int parallel;

        @Override public Integer call() throws Exception {
            QueueFolder folder = app.folder().required();
            if (parallel < 1 || parallel > PARALLEL_MOST) {
                throw SlothException.refused("--parallel takes a whole number from 1 to " + PARALLEL_MOST);
            }
            List<String> only = jobs.stream().map(j -> JobFile.named(folder, j).name()).distinct().toList();
            RunScreen screen = new RunScreen(app.terminal, app.json ? app.terminal.err : app.terminal.out, watch, Clock.system());
            OutputStream echo = verbose ? app.terminal.err : null;
            Duration wait = noWait ? Duration.ZERO : Durations.parse(patience);
            Worker.Settings settings = new Worker.Settings(only, parallel, wait, watch, echo);
            try (Stop stop = new Stop(); Worker worker = new Worker(folder, Clock.system(), settings, screen)) {
                stop.on(worker);
                Worker.Summary summary = worker.run();
                screen.summary(summary, worker.left(), stop.asked());
                if (app.json) {
                    app.print(Shapes.summary(summary));
                }
                return summary.failed() > 0 || summary.refused() > 0 ? NO : FINE;
            }
        }

        static final int PARALLEL_MOST = 64;

        /**
         * Ctrl-C and SIGTERM: the JVM is going down, and waits until the worker has released its jobs and closed the
         * queue. Its exit code is then 130 or 143, as the JVM has it.
         */
        private static final class Stop implements AutoCloseable {
            private static final long LONGEST_SECONDS = 60;
            private final CountDownLatch closed = new CountDownLatch(1);
            private volatile boolean asked;

            void on(Worker worker) {
                Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                    if (closed.getCount() > 0) {
                        asked = true;
                        worker.stop();
                        await();
                    }
                }, "stop"));
            }

            private void await() {
                try {
                    closed.await(LONGEST_SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    // Going down at once, then.
                }
            }

            boolean asked() {
                return asked;
            }

            @Override public void close() {
                closed.countDown();
            }
        }
    }

    // ---- add

    @Command(description = "Add a job: a file from jobs/ with arguments, or a command behind '--'. Prints its id.",
        customSynopsis = {"slothq add [OPTIONS] JOB [ARG...]", "slothq add [OPTIONS] -- CMD [ARG...]"})
    static class Add extends Sub {

        @Option(names = "--in", paramLabel = "TIME", description = "Not before so long from now: 10m, 1h30m.")
        String in;

        @Option(names = "--at", paramLabel = "TIME",
            description = "Not before then: 09:00 (the next such), '2026-12-01 09:00', or ISO with an offset.")
        String at;

        @Option(names = "--priority", paramLabel = "N", description = "Higher goes first.")
        Integer priority;

        @Option(names = "--attempts", paramLabel = "N", description = "Claims that may count before it is failed.")
        Integer attempts;

        @Option(names = "--key", paramLabel = "KEY",
            description = "While a job with this key is pending or claimed: print its id, add nothing.")
        String key;

        @Option(names = "--each", paramLabel = "FILE",
            description = "A job for each line of FILE ('-': stdin), the line as the last argument; one batch.")
        String each;

        @Parameters(paramLabel = "JOB", arity = "1..*", description = "A job file, or behind '--' a command, and its arguments.")
        List<String> words;

        @CommandLine.Spec
        CommandLine.Model.CommandSpec spec;

        @Override public Integer call() throws Exception {
            if (in != null && at != null) {
                throw SlothException.refused("--in and --at cannot stand together");
            }
            if (key != null && key.isEmpty()) {
                throw SlothException.refused("--key is empty: all jobs with an empty key would be one");
            }
            if (each != null && key != null) {
                throw SlothException.refused("--key cannot stand with --each: each job would have the same key;"
                    + " write key=args in the job file");
            }
            boolean isCommand = isBehindDashes();
            NewJob job = limited(timed(isCommand ? NewJob.command(words.toArray(String[]::new)) : fromFile()));
            Path folder = isCommand ? app.folder().root() : app.folder().required().root();
            try (SlothQueue queue = openFor(folder)) {
                return each == null ? one(queue, key == null ? job : job.key(key)) : many(queue, job);
            }
        }

        private SlothQueue openFor(Path folder) {
            if (!Files.isDirectory(folder)) {
                throw SlothException.refused("no folder " + folder);
            }
            return SlothQueue.open(folder);
        }

        /** {@code --} right before the first word, as it was typed. */
        private boolean isBehindDashes() {
            List<String> typed = spec.commandLine().getParseResult().originalArgs();
            int dashes = typed.indexOf("--");
            return dashes >= 0 && typed.subList(dashes + 1, typed.size()).equals(words);
        }

        private NewJob fromFile() {
            JobFile file = JobFile.named(app.folder().required(), words.get(0));
            return file.toAdd().args(words.subList(1, words.size()).toArray(String[]::new));
        }

        private NewJob timed(NewJob job) {
            if (in != null) {
                return job.in(Durations.parse(in));
            }
            return at == null ? job : job.at(Times.parse(at, Instant.now(), ZoneId.systemDefault()));
        }

        private NewJob limited(NewJob job) {
            Options o = job.options();
            o = priority == null ? o : o.with("priority", priority.toString());
            return job.options(attempts == null ? o : o.with("attempts", attempts.toString()));
        }

        private int one(SlothQueue queue, NewJob job) {
            JobRecord added = queue.add(job);
            if (app.json) {
                return app.print(Shapes.job(added));
            }
            app.terminal.out.println(added.id());
            return FINE;
        }

        private InputStream lines() throws IOException {
            if (each.equals("-")) {
                return System.in;
            }
            if (Files.isDirectory(Path.of(each)) || !Files.isReadable(Path.of(each))) {
                throw SlothException.refused("no file '" + each + "' to read lines from; '-' reads stdin");
            }
            return Files.newInputStream(Path.of(each));
        }

        private int many(SlothQueue queue, NewJob job) throws IOException {
            SlothQueue.Batch batch = queue.addEach(job, lines());
            if (app.json) {
                return app.print(batch);
            }
            app.terminal.out.println(batch.batch());
            app.terminal.err.println("batch " + batch.batch() + ": " + batch.added() + " added"
                + (batch.existing() > 0 ? ", " + batch.existing() + " there already" : ""));
            return FINE;
        }
    }

    // ---- looking

    @Command(description = "How many jobs stand where, and what is running.")
    static class Status extends Sub {

        @Override public Integer call() {
            return print(app);
        }

        static int print(slothq app) {
            try (SlothQueue queue = app.look()) {
                if (app.json) {
                    return app.print(queue.atOnce(() -> Shapes.status(queue)));
                }
                queue.atOnce(() -> {
                    StatusText.print(queue, app.terminal);
                    return null;
                });
                return FINE;
            }
        }
    }

    @Command(description = "List jobs, oldest first; on a terminal the newest 50.")
    static class ListJobs extends Sub {

        private static final int SCREENFUL = 50;

        @Option(names = "--state", paramLabel = "STATE", description = "Only pending, claimed, done, failed or cancelled ones.")
        State state;

        @Option(names = "--job", paramLabel = "JOB", description = "Only jobs of this file.")
        String job;

        @Option(names = "--batch", paramLabel = "N", description = "Only jobs of this batch.")
        Long batch;

        @Option(names = "--limit", paramLabel = "N", description = "At most the newest N.")
        Integer limit;

        @Override public Integer call() {
            if (limit != null && limit < 0) {
                throw SlothException.refused("--limit takes a whole number from 0 up");
            }
            try (SlothQueue queue = app.look()) {
                Integer most = limit == null && app.terminal.isTty() && !app.json ? (Integer) SCREENFUL : limit;
                SlothQueue.Filter filter = new SlothQueue.Filter(state, job == null ? null : fileName(queue, job), batch, most);
                List<JobRecord> rows = queue.list(filter);
                if (app.json) {
                    return app.print(rows.stream().map(Shapes::job).toList());
                }
                StatusText.table(rows, Clock.system().millis(), app.terminal);
                long more = queue.count(filter) - rows.size();
                if (more > 0) {
                    app.terminal.err.println(more + " older ones are not shown; --limit N shows more");
                }
                return FINE;
            }
        }

        /** The file may be gone while its jobs are still here. */
        private static String fileName(SlothQueue queue, String typed) {
            try {
                return JobFile.named(queue.folder(), typed).name();
            } catch (SlothException e) {
                return typed;
            }
        }
    }

    @Command(description = "Show one job with its history.")
    static class Show extends Sub {

        @Parameters(paramLabel = "ID")
        long id;

        @Override public Integer call() {
            try (SlothQueue queue = app.look()) {
                JobRecord job = queue.job(id).orElseThrow(() -> SlothQueue.noSuchJob(id));
                if (app.json) {
                    return app.print(Shapes.shown(job, queue.history(id), queue.steps(id)));
                }
                StatusText.show(job, queue.history(id), queue.steps(id), Clock.system().millis(), app.terminal);
                return FINE;
            }
        }
    }

    @Command(description = "Print what a job wrote in its newest attempt: these bytes and nothing else.")
    static class Log extends Sub {

        @Parameters(paramLabel = "ID")
        long id;

        @Option(names = "-f", description = "Go on until the job has ended, through its retries.")
        boolean follow;

        @Option(names = "--attempt", paramLabel = "N", description = "The Nth time it was handed out, instead of the newest.")
        Integer claim;

        @Override public Integer call() throws Exception {
            try (SlothQueue queue = app.look()) {
                JobRecord job = queue.job(id).orElseThrow(() -> SlothQueue.noSuchJob(id));
                LogReader reader = new LogReader(queue, job, app.terminal.out);
                if (follow) {
                    if (!job.state().ended()) {
                        app.sayWhenNobodyWorks(queue);
                    }
                    reader.follow();
                } else if (!reader.copy(claim == null ? job.claims() : claim)) {
                    throw SlothException.refused("job " + id + (job.claims() == 0 ? " has not run yet" : " has no log of attempt "
                        + (claim == null ? job.claims() : claim)) + (job.claims() > 1 ? "; there are 1 to " + job.claims() : ""));
                }
                return FINE;
            }
        }
    }

    @Command(description = "Wait until these jobs have ended. Exit 0 when all are done, 1 when one failed or was cancelled.")
    static class Wait extends Sub {

        private static final long POLL_MILLIS = 300;

        @Parameters(paramLabel = "ID")
        List<Long> ids = List.of();

        @Option(names = "--batch", paramLabel = "N", description = "All jobs of this batch.")
        Long batch;

        @Override public Integer call() throws InterruptedException {
            if (ids.isEmpty() == (batch == null)) {
                throw SlothException.refused("say which: ids, or --batch N");
            }
            try (SlothQueue queue = app.look()) {
                if (batch != null && !queue.hasBatch(batch)) {
                    throw SlothException.refused("no batch " + batch);
                }
                boolean said = false;
                while (!ended(queue)) {
                    said = said || app.sayWhenNobodyWorks(queue);
                    Thread.sleep(POLL_MILLIS);
                }
                return good(queue) ? FINE : NO;
            }
        }

        private boolean ended(SlothQueue queue) {
            return batch == null ? ids.stream().allMatch(id -> queue.job(id).orElseThrow(() -> SlothQueue.noSuchJob(id)).state().ended())
                : count(queue, State.PENDING) + count(queue, State.CLAIMED) == 0;
        }

        private boolean good(SlothQueue queue) {
            return batch == null ? ids.stream().allMatch(id -> queue.job(id).map(j -> j.state() == State.DONE).orElse(false))
                : count(queue, State.FAILED) + count(queue, State.CANCELLED) == 0;
        }

        private long count(SlothQueue queue, State state) {
            return queue.count(new SlothQueue.Filter(state, null, batch, null));
        }
    }

    @Command(description = "List the job files, with their options and problems.")
    static class Jobs extends Sub {

        @Override public Integer call() {
            List<JobFile> files = JobFile.all(app.folder().required());
            if (app.json) {
                return app.print(files.stream().map(Shapes::jobFile).toList());
            }
            StatusText.files(files, app.terminal);
            return FINE;
        }
    }

    // ---- acting

    @Command(description = "Make failed or cancelled jobs pending again, with all their attempts.")
    static class Retry extends Sub {

        @Parameters(paramLabel = "ID")
        Set<Long> ids = Set.of();

        @Option(names = "--failed", description = "All that failed.")
        boolean failed;

        @Option(names = "--fresh", description = "Forget the steps that are done already.")
        boolean fresh;

        @Override public Integer call() {
            if (ids.isEmpty() != failed) {
                throw SlothException.refused("say which: ids, or --failed");
            }
            try (SlothQueue queue = app.open()) {
                List<JobRecord> jobs = new ArrayList<>();
                if (failed) {
                    queue.retryFailed(fresh, jobs::add, problem -> app.terminal.err.println("slothq: " + problem + " (passed over)"));
                } else {
                    jobs.addAll(queue.retryAll(ids, fresh));
                }
                if (app.json) {
                    return app.print(jobs.stream().map(Shapes::job).toList());
                }
                jobs.forEach(j -> app.terminal.out.println(j.id()));
                if (jobs.isEmpty()) {
                    app.terminal.err.println("slothq: no failed job to retry");
                }
                return FINE;
            }
        }
    }

    @Command(description = "Cancel pending or running jobs; waits until their processes are gone.")
    static class Cancel extends Sub {

        @Parameters(paramLabel = "ID", arity = "1..*")
        Set<Long> ids;

        @Override public Integer call() throws InterruptedException {
            try (SlothQueue queue = app.open()) {
                List<JobRecord> jobs = queue.together(() -> ids.stream().map(queue::cancel).toList());
                for (long id : ids) {
                    Cancelling.awaitGone(queue, id);
                }
                if (app.json) {
                    return app.print(jobs.stream().map(Shapes::job).toList());
                }
                jobs.forEach(j -> app.terminal.out.println(j.id()));
                return FINE;
            }
        }
    }

    @Command(description = "Remove jobs that ended long ago, with their history and logs.")
    static class Prune extends Sub {

        @Option(names = "--older", paramLabel = "TIME", defaultValue = "30d", description = "Ended longer ago than this; ${DEFAULT-VALUE}.")
        String older;

        @Override public Integer call() {
            try (SlothQueue queue = app.open()) {
                List<Long> gone = queue.prune(Durations.parse(older));
                LogReader.deleteAllBut(queue.folder(), id -> queue.job(id).isPresent());
                if (app.json) {
                    return app.print(Map.of("pruned", gone.size()));
                }
                app.terminal.out.println(gone.size() + (gone.size() == 1 ? " job removed" : " jobs removed"));
                return FINE;
            }
        }
    }

    // ---- beginning

    @Command(description = "Make this folder a queue, with an example job.")
    static class Init extends Sub {

        @Override public Integer call() throws IOException {
            QueueFolder folder = app.folder();
            if (!Files.isDirectory(folder.root())) {
                throw SlothException.refused("no folder " + folder.root() + "; make it first");
            }
            boolean hadJobs = Files.isDirectory(folder.jobs());
            SlothQueue.open(folder.root()).close();
            if (!hadJobs) {
                Template.SH.write(folder, "welcome");
            }
            if (app.json) {
                return app.print(Map.of("folder", folder.root().toString()));
            }
            app.terminal.out.println((hadJobs ? "queue in " : "new queue in ") + folder.root());
            app.terminal.err.println(hadJobs ? "jobs/ was here already and is as it was"
                : "jobs/welcome.sh is an example: 'slothq run' runs it");
            return FINE;
        }
    }

    @Command(description = "Write a new job file from a template.")
    static class New extends Sub {

        @Parameters(paramLabel = "NAME", description = "hello makes jobs/hello.java; hello.sh or hello.jsh says the kind.")
        String name;

        @CommandLine.ArgGroup(exclusive = true)
        Kind kind;

        static class Kind {
            @Option(names = "--hosted", description = "A class that implements sloth.Job, for many arguments or steps.")
            boolean hosted;
            @Option(names = "--sh", description = "A shell script.")
            boolean sh;
            @Option(names = "--jsh", description = "A JShell script.")
            boolean jsh;
        }

        @Override public Integer call() throws IOException {
            Template template = kind == null ? Template.ofName(name) : kind.hosted ? Template.HOSTED : kind.sh ? Template.SH : Template.JSH;
            Path file = template.write(app.folder().required(), name);
            if (app.json) {
                return app.print(Map.of("file", file.toString()));
            }
            app.terminal.out.println(file);
            return FINE;
        }
    }

    // ---- caring

    @Command(description = "Look the folder over: file, jobs, file system, clock, JDK. Changes nothing;"
        + " exit 1 when something is wrong, 3 when the queue cannot be used.")
    static class Examine extends Sub {

        @Override public Integer call() {
            List<Doctor.Finding> findings = new Doctor(app.folder().required(), Clock.system()).examine();
            boolean bad = findings.stream().anyMatch(f -> f.verdict() == Doctor.Verdict.BAD);
            boolean unusable = findings.stream().anyMatch(f -> f.name().equals(Doctor.QUEUE_FILE) && f.verdict() == Doctor.Verdict.BAD);
            if (app.json) {
                app.print(Shapes.findings(!bad, findings));
            } else {
                findings.forEach(f -> app.terminal.out.println(app.terminal.column(
                    f.verdict() == Doctor.Verdict.OK ? Tone.GOOD : f.verdict() == Doctor.Verdict.BAD ? Tone.BAD : Tone.WAITS,
                    f.verdict().name().toLowerCase(Locale.ROOT), 5) + " " + f.name() + ": " + f.text()));
            }
            return unusable ? SlothException.UNUSABLE : bad ? NO : FINE;
        }
    }

    @Command(description = "Write a copy of the queue while it is in use: a working queue.db.")
    static class Backup extends Sub {

        @Parameters(paramLabel = "FILE")
        Path file;

        @Override public Integer call() {
            try (SlothQueue queue = app.open()) {
                queue.backup(file);
                if (app.json) {
                    return app.print(Map.of("file", file.toAbsolutePath().toString()));
                }
                app.terminal.out.println(file);
                return FINE;
            }
        }
    }

    @Command(description = "JShell with the library on its class path, and 'q', this folder's queue.")
    static class Shell extends Sub {

        @Parameters(paramLabel = "ARG", description = "For JShell itself, behind '--'.")
        List<String> more = List.of();

        @Override public Integer call() throws Exception {
            return Repl.run(app.folder().required(), more);
        }
    }

    @Command(description = "Print a completion script for bash or zsh: source <(slothq completion bash)")
    static class Completion extends Sub {

        enum For { bash, zsh }

        @Parameters(paramLabel = "SHELL", description = "bash or zsh")
        For shell;

        @CommandLine.Spec
        CommandLine.Model.CommandSpec spec;

        @Override public Integer call() {
            // The script serves both shells: it turns on bash's completion where it finds itself in zsh.
            app.terminal.out.print(picocli.AutoComplete.bash("slothq", spec.root().commandLine()));
            return FINE;
        }
    }
}
