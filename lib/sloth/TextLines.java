package sloth;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * The lines of a UTF-8 text that are not empty, without their ends. The text is read to its end before the first line is
 * given: whoever goes through them under the write lock must not wait for a terminal or a slow program.
 */
final class TextLines implements Iterator<String>, AutoCloseable {

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private final InputStream text;
    private long line;
    private String next;

    TextLines(InputStream source) throws IOException {
        Path spool = Files.createTempFile("slothq", ".lines");
        FileChannel channel = FileChannel.open(spool, READ, WRITE);
        // The name goes at once, so that nothing is left of it however we end.
        Files.delete(spool);
        source.transferTo(Channels.newOutputStream(channel));
        text = new BufferedInputStream(Channels.newInputStream(channel.position(0)), 1 << 16);
        skipByteOrderMark();
        next = read();
    }

    private void skipByteOrderMark() throws IOException {
        text.mark(BYTE_ORDER_MARK.length);
        if (!Arrays.equals(text.readNBytes(BYTE_ORDER_MARK.length), BYTE_ORDER_MARK)) {
            text.reset();
        }
    }

    @Override public boolean hasNext() {
        return next != null;
    }

    /** @throws SlothException when it is no UTF-8, with the number of the line */
    @Override public String next() {
        if (next == null) {
            throw new NoSuchElementException();
        }
        String given = next;
        try {
            next = read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return given;
    }

    private String read() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int b;
        do {
            bytes.reset();
            line++;
            for (b = text.read(); b >= 0 && b != '\n'; b = text.read()) {
                bytes.write(b);
            }
            String found = decoded(bytes.toByteArray());
            if (!found.isEmpty()) {
                return found;
            }
        } while (b >= 0);
        return null;
    }

    private String decoded(byte[] bytes) {
        int length = bytes.length > 0 && bytes[bytes.length - 1] == '\r' ? bytes.length - 1 : bytes.length;
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes, 0, length)).toString();
        } catch (CharacterCodingException e) {
            throw SlothException.refused("line " + line + " is not UTF-8 text, so its job would get another name than it says;"
                + " convert the file (iconv -t UTF-8)");
        }
    }

    @Override public void close() throws IOException {
        text.close();
    }
}
