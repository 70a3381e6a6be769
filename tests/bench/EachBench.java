package sloth;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Many lines at once, as {@code add --each} does it, beside rows of one column in one transaction. */
final class EachBench implements Bench {

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int lines = quick ? 10_000 : 100_000;
        String text = IntStream.range(0, lines).mapToObj(i -> "picture-" + i + ".jpg\n").collect(Collectors.joining());
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (SlothQueue queue = SlothQueue.open(folder); BareTransactions bare = new BareTransactions(folder.resolve("bare.db"))) {
            Map<String, Series> seconds = new Contest()
                .seconds("bare", () -> bare.insertAll(text.lines().iterator()))
                .seconds("each", () -> queue.addEach(NewJob.file("thumbs.java"), new ByteArrayInputStream(bytes)))
                .rounds(quick ? 3 : 7);
            Series bareSeconds = seconds.get("bare");
            Series each = seconds.get("each");
            figures.row(lines + " bare inserts", bareSeconds, "s");
            figures.atMost(1.5, "add --each of " + lines + " lines", each, "s", each.over(bareSeconds));
        }
    }
}
