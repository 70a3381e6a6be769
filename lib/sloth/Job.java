package sloth;

/**
 * A job that runs as a guest in a warm JVM: no JVM start for each, and steps that are not done twice.
 *
 * <pre>{@code
 * public class thumbs implements sloth.Job {
 *     public Object run(JobContext job) throws Exception {
 *         for (String file : job.args()) ...
 *         return "made 12 thumbnails";
 *     }
 * }
 * }</pre>
 *
 * <p>Each attempt gets a new object; statics are shared by all attempts in that JVM. The result's text is the job's
 * message. An exception is a failure, retried while attempts are left; {@link NotNow} and {@link GiveUp} say otherwise.
 */
public interface Job {

    Object run(JobContext job) throws Exception;

    /** Runs it without slothq: steps are simply done, progress is printed. For a {@code main} beside {@link #run}. */
    static void alone(Job job, String... args) throws Exception {
        Object result = job.run(new JobAlone(args));
        if (result != null) {
            System.out.println(result);
        }
    }
}
