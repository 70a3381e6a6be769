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
import java.util.function.LongPredicate;

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

    /** Removes the logs and state folders of jobs that are no more; also those that an earlier prune left when it was killed. */
    public static void deleteAllBut(QueueFolder folder, LongPredicate stays) {
        try (DirectoryStream<Path> logs = Files.newDirectoryStream(folder.logs(), "*.log");
             DirectoryStream<Path> states = Files.newDirectoryStream(folder.states())) {
            for (Path log : logs) {
                if (isOfNobody(log, stays)) {
                    Files.deleteIfExists(log);
                }
            }
            for (Path state : states) {
                if (isOfNobody(state, stays)) {
                    QueueFolder.deleteTree(state);
                }
            }
        } catch (IOException e) {
            throw Trouble.of(folder.logs(), e);
        }
    }

    /** Its name begins with the job's id. */
    private static boolean isOfNobody(Path path, LongPredicate stays) {
        String id = path.getFileName().toString().replaceFirst("\\..*", "");
        return id.matches("\\d{1,18}") && !stays.test(Long.parseLong(id));
    }
}
