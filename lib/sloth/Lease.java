package sloth;

/**
 * A worker's right to one job, until {@link #until} unless it is renewed. The token is the fence: every word about the
 * job must show it, and another claim makes a new one.
 *
 * @param job   the row as it was claimed
 * @param until epoch ms, as of the claim
 */
public record Lease(JobRecord job, String worker, String token, long until) {

    public Lease {
        if (job.state() != State.CLAIMED) {
            throw new IllegalArgumentException("a lease is on a claimed job, not a " + job.state() + " one");
        }
    }

    public long id() {
        return job.id();
    }

    /** 1 for the first claim that counts. */
    public int attempt() {
        return job.attempts();
    }

    public int claim() {
        return job.claims();
    }
}
