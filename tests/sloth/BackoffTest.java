package sloth;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

@DisplayName("The back-off")
class BackoffTest {

    @ParameterizedTest(name = "after attempt {0} is {1} s", quoteTextArguments = false)
    @CsvSource({"1, 2", "2, 4", "3, 8", "4, 16", "11, 2048", "12, 3600", "13, 3600"})
    void doubles_from_two_seconds_to_an_hour(int attempt, long seconds) {
        assertEquals(ofSeconds(seconds), Backoff.DEFAULT.after(attempt));
    }

    @ParameterizedTest(name = "after attempt {0} is the cap")
    @ValueSource(ints = {31, 32, 33, 62, 63, 64, 65, 128, 1_000_000, Integer.MAX_VALUE})
    void never_overflows(int attempt) {
        assertEquals(Duration.ofHours(1), Backoff.DEFAULT.after(attempt));
        Backoff widest = new Backoff(ofMillis(1), Options.LONGEST);
        assertEquals(Options.LONGEST, widest.after(Math.max(attempt, 64)));
        Backoff endless = new Backoff(ofMillis(3), ofMillis(Long.MAX_VALUE));
        assertEquals(ofMillis(Long.MAX_VALUE), endless.after(Math.max(attempt, 64)));
    }

    @ParameterizedTest(name = "after attempt {0} is that after the first") @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void counts_anything_below_the_first_as_the_first(int attempt) {
        assertEquals(ofSeconds(2), Backoff.DEFAULT.after(attempt));
    }

    @Test void never_falls_and_never_passes_the_cap() {
        Backoff odd = new Backoff(ofMillis(7), ofMillis(10_001));
        Duration before = Duration.ZERO;
        for (int attempt = 1; attempt < 100; attempt++) {
            Duration wait = odd.after(attempt);
            assertEquals(Math.min(10_001, 7 * Math.pow(2, attempt - 1)), wait.toMillis());
            assertEquals(wait, wait.compareTo(before) < 0 ? before : wait);
            before = wait;
        }
    }

    @Test void of_equal_ends_is_constant() {
        Backoff steady = new Backoff(ofSeconds(5), ofSeconds(5));
        assertEquals(ofSeconds(5), steady.after(1));
        assertEquals(ofSeconds(5), steady.after(50));
    }

    @Test void goes_from_more_than_nothing_up() {
        assertThrows(IllegalArgumentException.class, () -> new Backoff(Duration.ZERO, ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> new Backoff(ofSeconds(-1), ofSeconds(1)));
        assertThrows(IllegalArgumentException.class, () -> new Backoff(ofSeconds(2), ofSeconds(1)));
    }
}
