package sloth;

import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Berlin: the clock goes from 02:00 to 03:00 on 2026-03-29, and from 03:00 back to 02:00 on 2026-10-25. */
@DisplayName("A time")
class TimesTest {

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    private static Instant parse(String text, String now) {
        return Instant.ofEpochMilli(Times.parse(text, Instant.parse(now), BERLIN));
    }

    private static String refusal(String text, String now) {
        return assertThrows(IllegalArgumentException.class, () -> parse(text, now)).getMessage();
    }

    @ParameterizedTest(name = "{0}, asked for at {1}, is {2}", quoteTextArguments = false)
    @CsvSource({
        "09:00,    2026-06-01T05:00:00Z,     2026-06-01T07:00:00Z",
        "9:00,     2026-06-01T05:00:00Z,     2026-06-01T07:00:00Z",
        "09:00:30, 2026-06-01T05:00:00Z,     2026-06-01T07:00:30Z",
        "09:00,    2026-06-01T06:59:59.999Z, 2026-06-01T07:00:00Z",
        "09:00,    2026-06-01T07:00:00Z,     2026-06-02T07:00:00Z",
        "09:00,    2026-06-01T22:30:00Z,     2026-06-02T07:00:00Z",
        "00:00,    2026-12-31T22:59:00Z,     2026-12-31T23:00:00Z"})
    void of_the_day_is_the_next_such(String text, String now, String expected) {
        assertEquals(Instant.parse(expected), parse(text, now));
    }

    @ParameterizedTest(name = "{0} is {1}", quoteTextArguments = false)
    @CsvSource({
        "2026-12-01 09:00,          2026-12-01T08:00:00Z",
        "2026-12-01T09:00,          2026-12-01T08:00:00Z",
        "2026-12-01 09:00:07,       2026-12-01T08:00:07Z",
        "2026-12-01T09:00:00+05:30, 2026-12-01T03:30:00Z",
        "2026-12-01 09:00+00:00,    2026-12-01T09:00:00Z",
        "2026-12-01T09:00Z,         2026-12-01T09:00:00Z",
        "2024-02-29 12:00,          2024-02-29T11:00:00Z"})
    void with_its_day_is_local_or_has_an_offset(String text, String expected) {
        assertEquals(Instant.parse(expected), parse(text, "2026-06-01T05:00:00Z"));
    }

    @Test void that_the_clock_skips_is_an_error() {
        String now = "2026-03-28T12:00:00Z";
        assertEquals("'2026-03-29 02:30' does not exist in Europe/Berlin: the clock goes forward over it; name another time",
            refusal("2026-03-29 02:30", now));
        assertTrue(refusal("02:30", now).startsWith("'2026-03-29 02:30' does not exist"), "also when only the hour is named");
        assertEquals(Instant.parse("2026-03-29T00:59:59Z"), parse("2026-03-29 01:59:59", now));
        assertEquals(Instant.parse("2026-03-29T01:00:00Z"), parse("2026-03-29 03:00", now));
    }

    @Test void that_the_clock_skips_tomorrow_is_no_error_today() {
        assertEquals(Instant.parse("2026-03-28T01:30:00Z"), parse("02:30", "2026-03-28T01:00:00Z"));
    }

    @Test void of_the_day_keeps_its_hour_across_a_change_of_the_clock() {
        assertEquals(Instant.parse("2026-03-29T07:00:00Z"), parse("09:00", "2026-03-28T12:00:00Z"));
        assertEquals(Instant.parse("2026-10-25T08:00:00Z"), parse("09:00", "2026-10-24T12:00:00Z"));
    }

    @Test void that_comes_twice_is_the_first_that_lies_ahead() {
        assertEquals(Instant.parse("2026-10-25T00:30:00Z"), parse("2026-10-25 02:30", "2026-10-24T12:00:00Z"));
        assertEquals(Instant.parse("2026-10-25T00:30:00Z"), parse("02:30", "2026-10-24T12:00:00Z"));
        assertEquals(Instant.parse("2026-10-25T01:30:00Z"), parse("02:30", "2026-10-25T01:15:00Z"), "the first 02:30 has passed");
    }

    @ParameterizedTest(name = "\"{0}\" is refused", quoteTextArguments = false)
    @ValueSource(strings = {"", "soon", "24:00", "09:60", "9", "0900", "09.00", "9am", "2026-12-01",
        "2026-13-01 09:00", "2026-02-30 09:00", "2025-02-29 09:00", "01.12.2026 09:00", "2026-12-01 25:00", "2026-12-01T09:00:00+99:00",
        "-1"})
    void is_refused_when_it_is_none(String text) {
        assertTrue(refusal(text, "2026-06-01T05:00:00Z").startsWith("'" + text + "' is not a time; write for example "));
    }
}
