package sloth;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("A duration")
class DurationsTest {

    @ParameterizedTest(name = "{0} is {1} ms", quoteTextArguments = false)
    @CsvSource({"500ms, 500", "90s, 90000", "10m, 600000", "2h, 7200000", "7d, 604800000",
        "1h30m, 5400000", "1d2h3m4s5ms, 93784005", "0s, 0", "007s, 7000", "999999999d, 86399999913600000"})
    void is_read_as_people_write_it(String text, long millis) {
        assertEquals(millis, Durations.parse(text).toMillis());
    }

    @ParameterizedTest(name = "\"{0}\" is refused", quoteTextArguments = false)
    @ValueSource(strings = {"", " ", "10", "s", "10 m", "10x", "-5s", "+5s", "1.5h", "1h30", "PT5M",
        "10M", "10 s", "s10", "1h 30m", "9999999999s", "٣s"})
    void is_refused_when_it_is_anything_else(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> Durations.parse(text)).getMessage();
        assertTrue(message.startsWith("'" + text + "' is not a duration; write for example "), message);
    }

    @ParameterizedTest(name = "{0} comes back as it was written", quoteTextArguments = false)
    @ValueSource(strings = {"500ms", "1m30s", "10m", "2h", "7d", "1h30m", "1d1ms", "0s"})
    void is_written_as_it_is_read(String text) {
        assertEquals(text, Durations.format(Durations.parse(text)));
    }

    @ParameterizedTest(name = "{0} ms is about {1}", quoteTextArguments = false)
    @CsvSource({"0, 0.0s", "340, 0.3s", "9_949, 9.9s", "10000, 10s", "42900, 42s", "59999, 59s",
        "60000, 1m", "90500, 1m30s", "3599999, 59m59s", "3600000, 1h", "28705000, 7h58m", "86399999, 23h59m", "86400000, 1d",
        "273660000, 3d4h"})
    void is_shown_with_two_units_at_most(String millis, String shown) {
        assertEquals(shown, Durations.roughly(Duration.ofMillis(Long.parseLong(millis.replace("_", "")))));
    }

    @Test void is_shown_with_a_point_in_every_country() {
        java.util.Locale usual = java.util.Locale.getDefault();
        try {
            java.util.Locale.setDefault(java.util.Locale.GERMANY);
            assertEquals("1.5s", Durations.roughly(Duration.ofMillis(1_500)));
        } finally {
            java.util.Locale.setDefault(usual);
        }
    }
}
