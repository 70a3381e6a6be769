package sloth;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What --each makes jobs of. */
@DisplayName("Lines for jobs")
class TextLinesTest extends QueueFixture {

    private static InputStream text(String text) {
        return new ByteArrayInputStream(text.getBytes(UTF_8));
    }

    private static List<String> lines(String text) throws IOException {
        List<String> all = new ArrayList<>();
        try (TextLines lines = new TextLines(text(text))) {
            lines.forEachRemaining(all::add);
        }
        return all;
    }

    @Test void are_taken_without_their_ends_whoever_wrote_them() throws IOException {
        assertEquals(List.of("a", "b c", "ü漢😀"), lines("a\nb c\nü漢😀\n"));
        assertEquals(List.of("a", "b"), lines("a\r\nb\r\n"));
        assertEquals(List.of("a", "b"), lines("a\nb"), "the last one may lack its end");
        assertEquals(List.of("a\rb"), lines("a\rb\n"), "only at the end is it Windows'");
        assertEquals(List.of("a"), lines("\uFEFFa\n"), "a byte order mark is no part of a name");
    }

    @Test void that_are_empty_are_passed_over() throws IOException {
        assertEquals(List.of("a", " ", "b"), lines("\n\na\n\r\n \nb\n\n"));
        assertEquals(List.of(), lines(""));
        assertEquals(List.of(), lines("\n\n"));
    }

    @Test void that_are_not_utf8_are_refused_with_their_number_and_nothing_is_added() {
        InputStream latin = new ByteArrayInputStream("ok.jpg\n\ncaf\u00e9.jpg\n".getBytes(ISO_8859_1));
        SlothException refused = assertThrows(SlothException.class, () -> queue.addEach(job("a.sh"), latin));
        assertTrue(refused.getMessage().startsWith("line 3 is not UTF-8"), refused.getMessage());
        assertEquals(List.of(), queue.list());
    }

    @Test void are_read_before_the_queue_is_locked() throws IOException {
        InputStream slow = new InputStream() {
            private final InputStream rest = text("a\nb\n");

            @Override public int read() throws IOException {
                // Another process, while the next line is still to come.
                try (SlothQueue other = SlothQueue.open(folder, clock)) {
                    other.add(job("other.sh"));
                }
                return rest.read();
            }
        };
        assertEquals(2, queue.addEach(job("a.sh"), slow).added());
    }
}
