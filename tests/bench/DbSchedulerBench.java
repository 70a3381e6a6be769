package sloth;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * The same no-ops drained by db-scheduler from a SQLite file of its own: one thread, polls that fetch a thousand, open
 * connections. Beside it the queue with one thread, the end of one job and the claim of the next in one transaction.
 */
final class DbSchedulerBench implements Bench {

    private static final String TABLE = """
        CREATE TABLE scheduled_tasks (
          task_name TEXT NOT NULL, task_instance TEXT NOT NULL, task_data BLOB, execution_time TIMESTAMP NOT NULL,
          picked BOOLEAN NOT NULL, picked_by TEXT, last_success TIMESTAMP, last_failure TIMESTAMP, consecutive_failures INTEGER,
          last_heartbeat TIMESTAMP, version INTEGER NOT NULL, priority INTEGER, PRIMARY KEY (task_name, task_instance))""";

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int jobs = quick ? 200 : 2_000;
        try (SlothQueue queue = SlothQueue.open(folder); Connections connections = new Connections(folder.resolve("scheduler.db"))) {
            connections.script(TABLE);
            connections.script("CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time)");
            Map<String, Series> seconds = new Contest()
                .measured("theirs", () -> drained(connections.asDataSource(), jobs))
                .seconds("ours", () -> CyclesBench.add(queue, jobs), () -> CyclesBench.oneMove(queue, jobs))
                .rounds(quick ? 3 : 7);
            Series theirs = seconds.get("theirs").map(s -> jobs / s);
            Series ours = seconds.get("ours").map(s -> jobs / s);
            figures.row("db-scheduler drains " + jobs, theirs, "jobs/s");
            figures.atLeast(1.0, "slothq drains " + jobs, ours, "jobs/s", ours.over(theirs));
        }
    }

    /** Seconds from the first job to the last, so that neither start nor first poll counts. */
    private static double drained(DataSource source, int jobs) throws InterruptedException {
        CountDownLatch left = new CountDownLatch(jobs);
        long[] ends = new long[2];
        OneTimeTask<Void> noop = Tasks.oneTime("noop").execute((instance, context) -> {
            ends[left.getCount() == jobs ? 0 : 1] = System.nanoTime();
            left.countDown();
        });
        SchedulerClient.Builder.create(source, noop).build().scheduleBatch(
            IntStream.range(0, jobs).<TaskInstance<?>>mapToObj(i -> noop.instance("job" + i)).toList(), Instant.now());
        Scheduler scheduler = Scheduler.create(source, noop).threads(1).pollingInterval(Duration.ofMillis(10))
            .pollUsingFetch(1.0, 1000.0).build();
        scheduler.start();
        left.await();
        scheduler.stop();
        return (ends[1] - ends[0]) / 1e9;
    }
}
