package sloth;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** Copies what jobs wrote, byte for byte. */
public final class LogReader {

    private static final long POLL_MILLIS = 200;

    private final SlothQueue queue;
    private final long id;
    private final OutputStream out;

    public LogReader(SlothQueue queue, JobRecord job, OutputStream out) {
        this.queue = queue;
        this.id = job.id();
        this.out = out;
    }

    /** @param claim which handing-out, from 1. @return false when there is no such log */
    public boolean copy(int claim) throws IOException {
        Path log = queue.folder().log(id, claim);
        if (claim < 1 || !Files.exists(log)) {
            return false;
        }
        Files.copy(log, out);
        out.flush();
        return true;
    }

    /** Before, during and after the attempts, until the job has ended. */
    public void follow() throws IOException, InterruptedException {
        int claim = Math.max(1, job().claims());
        long at = 0;
        while (true) {
            // First the state, then the bytes: what an ended job wrote is all there.
            JobRecord job = job();
            at = copyFrom(claim, at);
            if (job.claims() > claim) {
                claim++;
                at = 0;
            } else if (job.state().ended()) {
                return;
            } else {
                Thread.sleep(POLL_MILLIS);
            }
        }
    }

    private JobRecord job() {
        return queue.job(id).orElseThrow(() -> SlothQueue.noSuchJob(id));
    }

    private long copyFrom(int claim, long from) throws IOException {
        try (FileChannel file = FileChannel.open(queue.folder().log(id, claim))) {
            // A log that was cut in the middle is shorter than before: go on from its end.
            long at = Math.min(from, file.size());
            ByteBuffer buffer = ByteBuffer.allocate(1 << 16);
            for (int n = file.read(buffer, at); n > 0; n = file.read(buffer.clear(), at)) {
                Channels.newChannel(out).write(buffer.flip());
                at += n;
            }
            out.flush();
            return at;
        } catch (NoSuchFileException e) {
            return 0;
        }
    }

    /** Removes the logs and state folders of jobs that were pruned. */
    public static void delete(QueueFolder folder, Collection<Long> ids) {
        Set<String> gone = new HashSet<>();
        ids.forEach(id -> {
            gone.add(Long.toString(id));
            QueueFolder.deleteTree(folder.state(id));
        });
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder.logs(), "*.log")) {
            for (Path log : logs) {
                if (gone.contains(log.getFileName().toString().replaceFirst("\\..*", ""))) {
                    Files.deleteIfExists(log);
                }
            }
        } catch (IOException e) {
            throw Trouble.of(folder.logs(), e);
        }
    }
}
