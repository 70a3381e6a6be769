package sloth;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Waits until a cancelled job's processes are gone, and ends them itself where its worker cannot. */
public final class Cancelling {

    private static final long POLL_MILLIS = 50;
    /** A worker asks the job, gives it the grace, and kills it; later than this it will not. */
    private static final Duration WORKER_PATIENCE = ProcessTree.GRACE.plusSeconds(10);

    private Cancelling() {
    }

    public static void awaitGone(SlothQueue queue, long id) throws InterruptedException {
        long start = System.nanoTime();
        for (List<Roster.ProcessRecord> left = queue.processesOf(id); !left.isEmpty(); left = queue.processesOf(id)) {
            boolean late = System.nanoTime() - start > WORKER_PATIENCE.toNanos();
            for (Roster.ProcessRecord p : left) {
                if (late || cannotHear(queue, p)) {
                    end(queue, p);
                }
            }
            Thread.sleep(POLL_MILLIS);
        }
    }

    private static void end(SlothQueue queue, Roster.ProcessRecord p) {
        if (!p.endAll()) {
            throw SlothException.unusable("job " + p.job() + " is cancelled, but its process " + p.pid()
                + " cannot be ended; it does not run again before that is gone", null);
        }
        queue.gone(p);
    }

    /** Dead, or stopped: then it ends nothing. */
    private static boolean cannotHear(SlothQueue queue, Roster.ProcessRecord p) {
        Optional<Roster.WorkerRecord> worker = queue.workers().stream().filter(w -> w.id().equals(p.worker())).findFirst();
        return worker.isEmpty() || queue.isDead(worker.get())
            || p.host().isSameBoot(Host.here()) && ProcessTree.isStopped(worker.get().pid());
    }
}
