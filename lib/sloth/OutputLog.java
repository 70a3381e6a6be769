package sloth;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * One attempt's output in a file: raw bytes, the first and the last half of {@link #LOG_BYTES_KEPT}, and between them a
 * line that says how much was cut. At every moment the file reads in the order of writing, so that a worker that is
 * killed leaves a log that makes sense. While it grows the tail may be twice its size.
 */
final class OutputLog implements AutoCloseable {

    static final long LOG_BYTES_KEPT = 10L << 20;
    private static final long HALF = LOG_BYTES_KEPT / 2;
    private static final String CUT = "%n[slothq: %19d bytes cut here]%n";
    private static final int CUT_BYTES = cutLine(0).length;

    private final FileChannel file;
    private long size;
    private long cut;

    OutputLog(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        size = file.size();
        file.position(size);
    }

    /** Two streams write here, each from a thread of its own. */
    synchronized void write(byte[] bytes, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, length);
        while (buffer.hasRemaining()) {
            size += file.write(buffer, size);
        }
        long tail = size - HALF;
        if (tail > 2 * HALF) {
            keepLastHalf();
        }
    }

    /** Head, line, last half; what was between goes. The half is read whole first: where little goes, it moves over itself. */
    private void keepLastHalf() throws IOException {
        long oldLine = cut == 0 ? 0 : CUT_BYTES;
        ByteBuffer tail = ByteBuffer.allocate((int) HALF);
        while (tail.hasRemaining() && file.read(tail, size - tail.remaining()) >= 0) {
            // a read may give less than was asked for
        }
        cut += size - 2 * HALF - oldLine;
        long to = HALF + put(ByteBuffer.wrap(cutLine(cut)), HALF);
        to += put(tail.flip(), to);
        file.truncate(to);
        size = to;
    }

    private long put(ByteBuffer bytes, long at) throws IOException {
        long done = 0;
        while (bytes.hasRemaining()) {
            done += file.write(bytes, at + done);
        }
        return done;
    }

    private static byte[] cutLine(long bytes) {
        return CUT.formatted(bytes).replace("\r", "").getBytes(StandardCharsets.US_ASCII);
    }

    @Override public synchronized void close() throws IOException {
        if (!file.isOpen()) {
            return;
        }
        try (file) {
            // Cutting less than the line that tells of it would make the log longer.
            if (size > LOG_BYTES_KEPT + CUT_BYTES) {
                keepLastHalf();
            }
        }
    }
}
