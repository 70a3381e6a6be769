package sloth;

import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * The worker's heartbeat, on a thread and a connection of its own: renews leases well before they end, notices that
 * time went by without us, and asks attempts to end that were cancelled, lost, or took too long.
 */
final class Pulse implements AutoCloseable {

    static final Duration TICK = Duration.ofMillis(250);
    /** A lease is renewed when this part of it is over, so that two beats may fail before it ends. */
    private static final int PARTS = 3;

    private final SlothQueue queue;
    private final Awake awake;
    private final Collection<Running> running;
    private final Consumer<String> words;
    private final Consumer<SlothException> broken;
    private final Thread thread = new Thread(this::loop, "pulse");
    private volatile boolean closed;
    private boolean troubled;
    /** Since a gap, until all leases have been renewed: a queue that is locked for a moment must not make it forgotten. */
    private boolean renewalOwed;

    /**
     * @param words  hears what there is to say, and must not wait: a terminal that stands still must not hold a heartbeat
     * @param broken hears of a trouble that will not pass: the queue is not there any more
     */
    Pulse(SlothQueue queue, Awake awake, Collection<Running> running, Consumer<String> words, Consumer<SlothException> broken) {
        this.queue = queue;
        this.awake = awake;
        this.running = running;
        this.words = words;
        this.broken = broken;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void loop() {
        while (!closed) {
            try {
                Thread.sleep(TICK.toMillis());
                beat();
                troubled = false;
            } catch (InterruptedException e) {
                return;
            } catch (SlothException e) {
                bad(e);
            } catch (RuntimeException | Error e) {
                // Without a pulse the leases would run out under live jobs.
                broken.accept(SlothException.unusable("the heartbeat failed: " + e, e));
                return;
            }
        }
    }

    /** A lock that is held, a full disk: the next beat tries again, and says so once. */
    private void bad(SlothException e) {
        if (!e.isPassing()) {
            broken.accept(e);
        } else if (!troubled) {
            words.accept("heartbeat: " + e.getMessage());
        }
        troubled = true;
    }

    void beat() {
        Awake.Gap gap = awake.tick();
        // First the leases, then the words: others may be about to take the jobs over.
        renewalOwed |= gap.isGap();
        if (renewalOwed) {
            running.forEach(this::renew);
            renewalOwed = false;
        }
        if (gap.isGap()) {
            tell(gap);
        }
        for (Running r : running) {
            look(r);
        }
    }

    private void tell(Awake.Gap gap) {
        boolean away = !gap.away().isZero();
        for (Running r : running) {
            if (away && !r.asked.isDone() && beganBefore(r, gap.away())) {
                queue.slept(r.lease, gap.away(), gap.asleep() > 0 ? "sleep" : "pause");
                words.accept("slept " + Durations.roughly(gap.away()) + ", went on with job " + r.lease.id());
            }
        }
        if (gap.step() > 0) {
            queue.steppedForward(Duration.ofMillis(gap.step()));
        }
        if (gap.step() != 0) {
            Duration by = Duration.ofMillis(Math.abs(gap.step()));
            words.accept("the clock was set " + (gap.step() > 0 ? "forward" : "back") + " by " + Durations.roughly(by));
        }
    }

    /** A job that fell due meanwhile may have been claimed between the wake-up and this beat: it has not slept. */
    private boolean beganBefore(Running r, Duration away) {
        long claimed = r.lease.until() - r.lease.job().options().lease().toMillis();
        return queue.now() - claimed >= away.toMillis();
    }

    private void look(Running r) {
        if (r.asked.isDone()) {
            // While its processes are being ended the job is still ours, and nobody else may start it.
            renewWhenDue(r);
            return;
        }
        if (!renewWhenDue(r) && !queue.isHeld(r.lease)) {
            lost(r);
            return;
        }
        Execution execution = r.execution();
        if (execution != null) {
            Options o = r.lease.job().options();
            long quietSince = Math.max(r.startedAwake(), execution.output().touched());
            if (o.timeout() != null && awake.nanos() - r.startedAwake() > o.timeout().toNanos()) {
                r.ask(Running.Ask.TIMEOUT);
            } else if (o.stall() != null && awake.nanos() - quietSince > o.stall().toNanos()) {
                r.ask(Running.Ask.STALL);
            }
            tellProgress(r, execution.output().progress());
        }
    }

    private boolean renewWhenDue(Running r) {
        boolean due = awake.nanos() - r.renewedAwake >= r.lease.job().options().lease().toNanos() / PARTS;
        if (due) {
            renew(r);
        }
        return due;
    }

    private void renew(Running r) {
        if (queue.heartbeat(r.lease)) {
            r.renewedAwake = awake.nanos();
        } else {
            lost(r);
        }
    }

    private void lost(Running r) {
        boolean cancelled = queue.job(r.lease.id()).map(j -> j.state() == State.CANCELLED).orElse(true);
        r.ask(cancelled ? Running.Ask.CANCELLED : Running.Ask.LOST);
    }

    private void tellProgress(Running r, JobRecord.Progress p) {
        if (p != null && !Objects.equals(p, r.told) && queue.progress(r.lease, p)) {
            r.told = p;
        }
    }

    @Override public void close() {
        closed = true;
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
