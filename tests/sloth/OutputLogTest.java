package sloth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The log of an attempt")
class OutputLogTest {

    private static final int KEPT = (int) OutputLog.LOG_BYTES_KEPT;
    private static final int HALF = KEPT / 2;
    private static final Pattern CUT = Pattern.compile("\n\\[slothq: +(\\d+) bytes cut here\\]\n");

    @TempDir(factory = QueueFixture.InMemory.class) Path root;

    private Path write(byte[] all, int piece) throws IOException {
        Path path = root.resolve("1.1.log");
        try (OutputLog log = new OutputLog(path)) {
            for (int from = 0; from < all.length; from += piece) {
                byte[] bytes = Arrays.copyOfRange(all, from, Math.min(all.length, from + piece));
                log.write(bytes, bytes.length);
            }
        }
        return path;
    }

    private static byte[] noise(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** Head, one line that says how much is missing, tail: nothing else, and all of it in order. */
    private static void assertCut(byte[] all, byte[] kept) {
        assertArrayEquals(Arrays.copyOf(all, HALF), Arrays.copyOf(kept, HALF), "the first half");
        Matcher line = CUT.matcher(new String(kept, HALF, kept.length - HALF, StandardCharsets.ISO_8859_1));
        assertTrue(line.lookingAt(), "a line stands between the halves");
        int tail = HALF + line.end();
        assertEquals(HALF, kept.length - tail);
        assertArrayEquals(Arrays.copyOfRange(all, all.length - HALF, all.length), Arrays.copyOfRange(kept, tail, kept.length),
            "the last half");
        assertEquals(all.length - 2L * HALF, Long.parseLong(line.group(1)), "what was cut is counted");
    }

    @Test void holds_the_bytes_as_they_came() throws IOException {
        byte[] bytes = "a\r\nb\0\u001b[31m".getBytes(StandardCharsets.ISO_8859_1);
        assertArrayEquals(bytes, Files.readAllBytes(write(bytes, 3)));
    }

    @Test void is_there_while_the_job_runs() throws IOException {
        Path path = root.resolve("1.1.log");
        try (OutputLog log = new OutputLog(path)) {
            log.write("working".getBytes(StandardCharsets.US_ASCII), 4);
            assertEquals("work", Files.readString(path));
        }
    }

    @Test void is_whole_up_to_its_limit() throws IOException {
        byte[] bytes = noise(KEPT);
        assertArrayEquals(bytes, Files.readAllBytes(write(bytes, 8_192)));
    }

    /** Some bytes over the limit are not worth the line that would say so. */
    @ParameterizedTest(name = "{0} bytes over its limit is whole, or keeps its two halves")
    @ValueSource(ints = {1, 2, 43, 44, 45, 46, 47, 48, 100, HALF - 1, HALF, HALF + 1, KEPT + 777})
    void keeps_the_first_half_and_the_last_when_there_is_more(int more) throws IOException {
        byte[] bytes = noise(KEPT + more);
        byte[] kept = Files.readAllBytes(write(bytes, 60_000));
        if (more < 50 && kept.length == bytes.length) {
            assertArrayEquals(bytes, kept);
        } else {
            assertCut(bytes, kept);
        }
    }

    @Test void cuts_again_and_again_and_counts_it_all() throws IOException {
        byte[] bytes = noise(4 * KEPT + 12_345);
        assertCut(bytes, Files.readAllBytes(write(bytes, 1 << 20)));
    }

    @Test void may_come_in_one_piece() throws IOException {
        byte[] bytes = noise(2 * KEPT);
        assertCut(bytes, Files.readAllBytes(write(bytes, bytes.length)));
    }

    @Test void never_grows_beyond_its_limit_and_a_half_on_disk() throws IOException {
        Path path = root.resolve("1.1.log");
        byte[] piece = noise(1 << 20);
        try (OutputLog log = new OutputLog(path)) {
            for (int n = 0; n < 60; n++) {
                log.write(piece, piece.length);
                assertTrue(Files.size(path) <= KEPT + HALF + (1 << 20), "at megabyte " + n);
            }
        }
        assertTrue(Files.size(path) <= KEPT + 100);
    }

    @Test void of_a_killed_worker_makes_sense_at_any_moment() throws IOException {
        Path path = root.resolve("1.1.log");
        byte[] all = noise(3 * KEPT);
        OutputLog log = new OutputLog(path);
        int piece = 1 << 20;
        for (int from = 0; from < all.length; from += piece) {
            log.write(Arrays.copyOfRange(all, from, from + piece), piece);
            byte[] now = Files.readAllBytes(path);
            assertArrayEquals(Arrays.copyOf(all, Math.min(HALF, now.length)), Arrays.copyOf(now, Math.min(HALF, now.length)));
            byte[] end = Arrays.copyOfRange(now, now.length - piece, now.length);
            assertArrayEquals(Arrays.copyOfRange(all, from, from + piece), end, "what was written last stands last");
        }
        log.close();
    }

    @Test void is_not_cut_twice_when_it_is_closed_twice() throws IOException {
        Path path = root.resolve("1.1.log");
        OutputLog log = new OutputLog(path);
        byte[] bytes = noise(KEPT + 500);
        log.write(bytes, bytes.length);
        log.close();
        log.close();
        assertCut(bytes, Files.readAllBytes(path));
    }
}
