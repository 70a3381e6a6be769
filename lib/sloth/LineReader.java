package sloth;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Cuts bytes into lines as they come. Of a line only the first {@link #LINE_BYTES} are kept: memory stays flat. */
final class LineReader {

    static final int LINE_BYTES = 4096;

    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final Consumer<String> lines;

    LineReader(Consumer<String> lines) {
        this.lines = lines;
    }

    void take(byte[] bytes, int length) {
        int from = 0;
        for (int i = 0; i < length; i++) {
            if (bytes[i] == '\n') {
                keep(bytes, from, i);
                end();
                from = i + 1;
            }
        }
        keep(bytes, from, length);
    }

    /** The last line may lack its end. */
    void end() {
        lines.accept(line.toString(StandardCharsets.UTF_8));
        line.reset();
    }

    private void keep(byte[] bytes, int from, int to) {
        line.write(bytes, from, Math.min(to - from, LINE_BYTES - line.size()));
    }
}
