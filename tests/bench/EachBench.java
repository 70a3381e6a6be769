package sloth;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Many lines at once, as {@code add --each} does it, beside the same lines as rows of one column, and beside the same jobs
 * and ledger lines by bare prepared statements; one transaction each.
 */
final class EachBench implements Bench {

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int lines = quick ? 10_000 : 100_000;
        String text = IntStream.range(0, lines).mapToObj(i -> "picture-" + i + ".jpg\n").collect(Collectors.joining());
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        SlothQueue.open(folder.resolve("bare")).close();
        try (SlothQueue queue = SlothQueue.open(folder.resolve("each"));
             BareTransactions bare = new BareTransactions(folder.resolve("bare.db"));
             BareTransactions jobs = new BareTransactions(new QueueFolder(folder.resolve("bare")).database())) {
            Map<String, Series> seconds = new Contest()
                .seconds("bare", () -> bare.insertAll(text.lines().iterator()))
                .seconds("jobs", () -> jobs.insertJobs(text.lines().iterator()))
                .seconds("each", () -> queue.addEach(NewJob.file("thumbs.java"), new ByteArrayInputStream(bytes)))
                .rounds(quick ? 3 : 7);
            Series bareSeconds = seconds.get("bare");
            Series jobSeconds = seconds.get("jobs");
            Series each = seconds.get("each");
            figures.row(lines + " bare rows of one column", bareSeconds, "s");
            figures.row(lines + " bare jobs with their ledger lines", jobSeconds, "s");
            figures.atMost(1.5, "add --each beside these jobs", each, "s", each.over(jobSeconds));
            figures.atMost(1.5, "add --each beside one column", each, "s", each.over(bareSeconds));
        }
    }
}
