package sloth;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Notes when jobs ended. One that did not end done is a fault of the benchmark. */
final class Silent implements Worker.Report {

    private long first;
    private long last;
    private int done;

    @Override public synchronized void ended(JobRecord job, Outcome outcome, Duration took) {
        if (!(outcome instanceof Outcome.Done)) {
            throw new IllegalStateException("job " + job.id() + ": " + job.message());
        }
        last = System.nanoTime();
        first = done++ == 0 ? last : first;
    }

    /** From the end of the first job, which starts what is warm afterwards, to that of the last. */
    synchronized double millisAJob() {
        return (last - first) / 1e6 / (done - 1);
    }

    @Override public void started(Lease lease) {
    }

    @Override public void takenBack(JobRecord job) {
    }

    @Override public void refused(String problem) {
        throw new IllegalStateException(problem);
    }

    @Override public void waiting(long next) {
    }

    @Override public void say(String line) {
    }

    @Override public void load(LongSupplier due) {
    }
}
