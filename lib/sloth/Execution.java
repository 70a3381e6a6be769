package sloth;

import java.util.concurrent.CompletableFuture;

/** An attempt, in a process of its own or as a guest in a warm JVM. It knows nothing of the queue. */
interface Execution {

    /** Lets it begin: until now nothing of the job has run. */
    void begin();

    /** Complete when the attempt has ended by itself, with how it ended. */
    CompletableFuture<Outcome> result();

    Output output();

    /** The processes that this attempt may leave behind, for the record. */
    ProcessTree tree();

    /**
     * Ends what is left of the attempt: all of it when it still runs, its stray children when it has ended.
     *
     * @return false when something outlives even SIGKILL
     */
    boolean end();
}
