package sloth;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/** What a hosted job knows of itself, and what it can ask of the queue. */
public interface JobContext {

    /** The job's number in the queue. */
    long id();

    /** 1 for the first attempt. */
    int attempt();

    List<String> args();

    /** A folder of the job's own: it lives across attempts and goes when the job is done. */
    Path state();

    /** Shown by {@code status}, and a sign of life for {@code stall}. @param total 0 when it is not known; @param note may be null */
    void progress(long done, long total, String note);

    /** True once the attempt is to end: cancelled, timed out, the worker stopping. The thread is interrupted as well. */
    boolean cancelled();

    /** Adds another job, as {@code slothq add} does. @return its id */
    long add(String job, String... args);

    /**
     * Does a piece of work once for all attempts: its result is written to the queue, and a later attempt gets it from
     * there. What comes back is always the stored value, the first time too.
     *
     * @param name within this job, one name is one step
     * @param type a string, number, boolean, or a record, list or map of them
     * @throws IllegalStateException when the lease was lost: then this attempt no longer counts and is being ended
     */
    <T> T step(String name, Class<T> type, Callable<T> work) throws Exception;

    /**
     * The same for any JSON value: strings, booleans, {@code List}s and {@code Map}s of them, null. Whole numbers come
     * back as {@code Long}, others as {@code Double}; name the type to get another.
     */
    <T> T step(String name, Callable<T> work) throws Exception;
}
