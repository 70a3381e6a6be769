package sloth;

import java.util.concurrent.CompletableFuture;

/** A claim that this worker is at work on, as its own thread and the pulse see it. */
final class Running {

    /** Why an attempt is ended before it ends by itself. */
    enum Ask { RELEASE, CANCELLED, LOST, TIMEOUT, STALL }

    final Lease lease;
    final CompletableFuture<Ask> asked = new CompletableFuture<>();
    /** Awake nanoseconds when the job itself began: its timeout and stall do not count its build. */
    private volatile long startedAwake;
    private volatile Execution execution;
    /** Awake nanoseconds at the last renewal of the lease. */
    volatile long renewedAwake;
    /** The progress that was written last. */
    volatile JobRecord.Progress told;
    private final Thread thread = Thread.currentThread();
    private boolean interruptible;

    Running(Lease lease, long awakeNanos) {
        this.lease = lease;
        this.renewedAwake = awakeNanos;
    }

    void begin(Execution begun, long awakeNanos) {
        startedAwake = awakeNanos;
        execution = begun;
    }

    /** Null while it is being built. */
    Execution execution() {
        return execution;
    }

    long startedAwake() {
        return startedAwake;
    }

    /** The first word counts. A build has no process of ours to end: it is interrupted. */
    synchronized void ask(Ask why) {
        if (asked.complete(why) && interruptible) {
            thread.interrupt();
        }
    }

    /** From here to {@link #started} the thread is at a build. */
    synchronized void building() {
        interruptible = true;
        if (asked.isDone()) {
            thread.interrupt();
        }
    }

    /** An interrupt that came too late for the build must not meet the next thing that waits. */
    synchronized void started() {
        interruptible = false;
        Thread.interrupted();
    }
}
