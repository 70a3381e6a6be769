package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/** A job without a queue: {@code jbang jobs/x.java args}. */
final class JobAlone implements JobContext {

    private final List<String> args;
    private Path state;

    JobAlone(String... args) {
        this.args = List.of(args);
    }

    @Override public long id() {
        return 0;
    }

    @Override public int attempt() {
        return 1;
    }

    @Override public List<String> args() {
        return args;
    }

    @Override public Path state() {
        try {
            if (state == null) {
                state = Files.createTempDirectory("job-state");
            }
            return state;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override public void progress(long done, long total, String note) {
        System.err.println(done + (total > 0 ? "/" + total : "") + (note == null ? "" : " " + note));
    }

    @Override public boolean cancelled() {
        return Thread.currentThread().isInterrupted();
    }

    @Override public long add(String job, String... args) {
        throw new UnsupportedOperationException("there is no queue here to add " + job + " to; run this job with slothq");
    }

    @Override public <T> T step(String name, Class<T> type, Callable<T> work) throws Exception {
        return work.call();
    }

    @Override public <T> T step(String name, Callable<T> work) throws Exception {
        return work.call();
    }
}
