package sloth;

import java.util.Map;

/**
 * How an attempt ended, and what the queue makes of it. Each kind writes itself; {@code false} means that the lease was
 * lost and the word does not count.
 */
public sealed interface Outcome {

    String message();

    boolean writeTo(SlothQueue queue, Lease lease);

    /** Exit 0. */
    record Done(String message) implements Outcome {
        @Override public boolean writeTo(SlothQueue queue, Lease lease) {
            return queue.complete(lease, message);
        }
    }

    /** Retried after a wait while attempts are left. {@code detail} is for the ledger: exit code, signal, reason. */
    record Failed(String message, Map<String, Object> detail) implements Outcome {
        @Override public boolean writeTo(SlothQueue queue, Lease lease) {
            return queue.fail(lease, message, detail);
        }
    }

    /** Exit 65, a compile error, a missing file: trying again would not help. */
    record GaveUp(String message, Map<String, Object> detail) implements Outcome {
        @Override public boolean writeTo(SlothQueue queue, Lease lease) {
            return queue.giveUp(lease, message, detail);
        }
    }

    /** Exit 75: the attempt does not count. */
    record NotNow(String message) implements Outcome {
        @Override public boolean writeTo(SlothQueue queue, Lease lease) {
            return queue.notNow(lease, message);
        }
    }

    /** The worker was asked to stop. */
    record Released() implements Outcome {
        @Override public String message() {
            return null;
        }

        @Override public boolean writeTo(SlothQueue queue, Lease lease) {
            return queue.release(lease);
        }
    }
}
