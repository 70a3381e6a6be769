package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Takes in what a job writes: its bytes into the log, its last line for the message, its {@code ::progress} lines for
 * whoever looks. The two streams are read by a thread each, so that a job never waits for its reader.
 */
final class Output {

    /** A JVM says when it takes options from its environment: no word of the job's. */
    static final Pattern JVM_NOTE = Pattern.compile("(?m)^Picked up \\w+: .*\\R?");
    private static final Pattern PROGRESS = Pattern.compile("::progress\\s+(\\d{1,18})(?:/(\\d{1,18}))?(?:\\s+(.*))?");
    /** What a process that could not be found still holds open is not waited for. */
    private static final Duration DRAIN = Duration.ofSeconds(2);

    private final OutputLog log;
    private final OutputStream echo;
    private final LongSupplier awakeNanos;
    private final LineReader outLines = new LineReader(this::outLine);
    private final LineReader errLines = new LineReader(this::errLine);
    private Thread outThread;
    private Thread errThread;
    private volatile String lastOut;
    private volatile String lastErr;
    private volatile JobRecord.Progress progress;
    private volatile long touched;
    private volatile IOException trouble;

    /** @param echo where {@code -v} shows it, null for nowhere */
    Output(OutputLog log, OutputStream echo, LongSupplier awakeNanos) {
        this.log = log;
        this.echo = echo;
        this.awakeNanos = awakeNanos;
        this.touched = awakeNanos.getAsLong();
    }

    /** Reads both streams, each by a thread of its own, until they end. */
    void read(InputStream out, InputStream err, String name) {
        outThread = pump(out, outLines, name + " stdout");
        errThread = pump(err, errLines, name + " stderr");
    }

    private Thread pump(InputStream in, LineReader lines, String name) {
        Thread thread = new Thread(() -> copy(in, lines), name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void copy(InputStream in, LineReader lines) {
        byte[] buffer = new byte[1 << 14];
        try {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                take(lines, buffer, n);
            }
        } catch (IOException e) {
            // The stream was closed under us, once the job was over.
        }
    }

    void out(byte[] bytes, int length) {
        take(outLines, bytes, length);
    }

    void err(byte[] bytes, int length) {
        take(errLines, bytes, length);
    }

    private void take(LineReader lines, byte[] bytes, int length) {
        touched = awakeNanos.getAsLong();
        synchronized (lines) {
            lines.take(bytes, length);
        }
        keep(bytes, length);
    }

    /** A log that cannot be written (a full disk) must not stop the job: it goes on, and the loss is told. */
    private void keep(byte[] bytes, int length) {
        try {
            log.write(bytes, length);
            if (echo != null) {
                echo.write(bytes, 0, length);
                echo.flush();
            }
        } catch (IOException e) {
            trouble = e;
        }
    }

    /** Words of ours, where the job has none. */
    void note(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        keep(bytes, bytes.length);
        close();
    }

    void close() {
        try {
            log.close();
        } catch (IOException e) {
            trouble = e;
        }
    }

    /** Colours that are switched off on a line of their own say nothing. */
    private static boolean says(String line) {
        return !line.isBlank() && (line.indexOf('\u001b') < 0 || !JobRow.clean(line).isEmpty());
    }

    private void outLine(String line) {
        Matcher m = PROGRESS.matcher(line.strip());
        if (m.matches()) {
            Long total = m.group(2) == null ? null : Long.valueOf(m.group(2));
            progress(new JobRecord.Progress(Long.parseLong(m.group(1)), total, m.group(3)));
        } else if (says(line)) {
            lastOut = line;
        }
    }

    /** What is indented, such as the frames of a stack trace, explains the line above it. */
    private void errLine(String line) {
        if (says(line) && !JVM_NOTE.matcher(line).matches() && (lastErr == null || !Character.isWhitespace(line.charAt(0)))) {
            lastErr = line;
        }
    }

    void progress(JobRecord.Progress p) {
        progress = p;
        touched = awakeNanos.getAsLong();
    }

    JobRecord.Progress progress() {
        return progress;
    }

    /** Awake nanoseconds at the last output or progress. */
    long touched() {
        return touched;
    }

    /** Last non-empty line of stdout that is not progress; null when there was none. */
    String message() {
        return lastOut;
    }

    /** For a failure: the last line of either stream, stdout first. */
    String anyLine() {
        return lastOut != null ? lastOut : lastErr;
    }

    IOException trouble() {
        return trouble;
    }

    /** Waits until both streams are read to their ends, and closes the log. */
    void drain() {
        try {
            outThread.join(DRAIN.toMillis());
            errThread.join(DRAIN.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        end();
    }

    /** Nothing more comes: the last lines count, though they may lack their ends. */
    void end() {
        synchronized (outLines) {
            outLines.end();
        }
        synchronized (errLines) {
            errLines.end();
        }
        close();
    }
}
