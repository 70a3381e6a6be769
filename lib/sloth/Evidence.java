package sloth;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Decides whether a claim's worker has lost it. No clock decides that a worker is dead: its lock does.
 *
 * <pre>
 *   lock free                    dead: the job goes out again at once
 *   lock held, lease fresh       leave it
 *   lock held, lease over        alive, asleep or hung: lost once it stayed unrenewed for one more lease of our awake time
 *   no lock to ask               another host, or claimed through the bare library: only the lease counts
 * </pre>
 */
final class Evidence {

    /** A claimed row, as far as this decision needs it. */
    record Claim(long id, String worker, String token, long leaseUntil, Duration lease) {

        /** The clock was set back since it was claimed or renewed. Heartbeats leave no event that would show it. */
        boolean isLongerThanItsLease(long now) {
            return leaseUntil > now + lease.toMillis();
        }
    }

    private record Sighting(long leaseUntil, long awakeNanos) {
    }

    private final WorkerLocks locks;
    private final LongSupplier awakeNanos;
    private final Map<String, Sighting> overdue = new HashMap<>();

    Evidence(WorkerLocks locks, LongSupplier awakeNanos) {
        this.locks = locks;
        this.awakeNanos = awakeNanos;
    }

    /** @return why the claim is over, or nothing while it stands */
    Optional<String> against(Claim claim, Optional<Roster.WorkerRecord> worker, long now) {
        boolean over = claim.leaseUntil <= now;
        boolean canAsk = worker.isPresent() && worker.get().host().isSameMachine(Host.here());
        if (!canAsk) {
            return over ? Optional.of("lease over") : Optional.empty();
        }
        if (locks.isFree(claim.worker)) {
            return Optional.of("worker died");
        }
        if (!over) {
            overdue.remove(claim.token);
            return Optional.empty();
        }
        Sighting first = overdue.compute(claim.token, (token, seen) -> seen != null && seen.leaseUntil == claim.leaseUntil
            ? seen : new Sighting(claim.leaseUntil, awakeNanos.getAsLong()));
        if (awakeNanos.getAsLong() - first.awakeNanos < claim.lease.toNanos()) {
            return Optional.empty();
        }
        overdue.remove(claim.token);
        Duration silent = Duration.ofMillis(now - claim.leaseUntil).plus(claim.lease);
        return Optional.of("worker hung: no heartbeat for " + Durations.roughly(silent));
    }

    /** Dead by its lock; a worker of another host is never known to be. */
    boolean isDead(Roster.WorkerRecord worker) {
        return worker.host().isSameMachine(Host.here()) && locks.isFree(worker.id());
    }
}
