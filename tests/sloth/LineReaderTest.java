package sloth;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

@DisplayName("Bytes that come in pieces")
class LineReaderTest {

    private final List<String> lines = new ArrayList<>();
    private final LineReader reader = new LineReader(lines::add);

    private void take(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        reader.take(bytes, bytes.length);
    }

    @Test void become_lines_when_their_ends_come() {
        take("one\ntw");
        assertEquals(List.of("one"), lines);
        take("o\n\nthree");
        assertEquals(List.of("one", "two", ""), lines);
        reader.end();
        assertEquals(List.of("one", "two", "", "three"), lines);
    }

    @ParameterizedTest(name = "of {0} bytes keep their characters whole") @ValueSource(ints = {1, 2, 3, 5, 7})
    void keep_characters_whole_that_were_cut_between_pieces(int size) {
        byte[] bytes = "grün 漢字 😀\nzweite\n".getBytes(StandardCharsets.UTF_8);
        for (int from = 0; from < bytes.length; from += size) {
            byte[] piece = java.util.Arrays.copyOfRange(bytes, from, Math.min(bytes.length, from + size));
            reader.take(piece, piece.length);
        }
        assertEquals(List.of("grün 漢字 😀", "zweite"), lines);
    }

    @Test void count_only_as_far_as_they_were_filled() {
        reader.take("yes\nno\n".getBytes(StandardCharsets.UTF_8), 4);
        assertEquals(List.of("yes"), lines);
    }

    @Test void of_a_line_without_end_are_kept_to_a_limit() {
        for (int n = 0; n < 1_000; n++) {
            take("x".repeat(1_000));
        }
        take("\nnext\n");
        assertEquals(LineReader.LINE_BYTES, lines.get(0).length());
        assertEquals("next", lines.get(1));
    }

    @Test void of_a_line_that_just_fits_are_all_kept() {
        take("x".repeat(LineReader.LINE_BYTES) + "\n" + "y".repeat(LineReader.LINE_BYTES + 1) + "\n");
        assertEquals(List.of(LineReader.LINE_BYTES, LineReader.LINE_BYTES), lines.stream().map(String::length).toList());
    }
}
