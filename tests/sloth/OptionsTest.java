package sloth;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

@DisplayName("The options of a job")
class OptionsTest {

    private static String refusal(String name, String value) {
        return assertThrows(IllegalArgumentException.class, () -> Options.DEFAULT.with(name, value)).getMessage();
    }

    @Test void are_what_the_manual_says_when_none_is_given() {
        Options o = Options.DEFAULT;
        assertEquals(4, o.attempts());
        assertEquals(new Backoff(Duration.ofSeconds(2), Duration.ofHours(1)), o.backoff());
        assertEquals(Duration.ofSeconds(60), o.lease());
        assertNull(o.timeout());
        assertNull(o.stall());
        assertEquals(0, o.priority());
        assertEquals(Options.RunWhen.ONCE, o.run());
        assertFalse(o.byArgs());
        assertEquals(Map.of(), o.written());
    }

    @Test void are_each_read_and_written_as_they_were() {
        Options o = Options.DEFAULT.with("attempts", "7").with("backoff", "1s..30m").with("lease", "5m").with("timeout", "30m")
            .with("stall", "90s").with("priority", "-3").with("run", "always").with("key", "args");
        assertEquals(7, o.attempts());
        assertEquals(new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(30)), o.backoff());
        assertEquals(Duration.ofMinutes(5), o.lease());
        assertEquals(Duration.ofMinutes(30), o.timeout());
        assertEquals(Duration.ofSeconds(90), o.stall());
        assertEquals(-3, o.priority());
        assertEquals(Options.RunWhen.ALWAYS, o.run());
        assertTrue(o.byArgs());
        assertEquals("{attempts=7, backoff=1s..30m, lease=5m, timeout=30m, stall=1m30s, priority=-3, run=always, key=args}",
            o.written().toString());
    }

    @Test void take_a_back_off_of_one_duration_up_to_an_hour_or_that_one() {
        assertEquals(new Backoff(Duration.ofSeconds(5), Duration.ofHours(1)), Options.DEFAULT.with("backoff", "5s").backoff());
        assertEquals(new Backoff(Duration.ofHours(2), Duration.ofHours(2)), Options.DEFAULT.with("backoff", "2h").backoff());
    }

    @ParameterizedTest(name = "refuse {0}={1}", quoteTextArguments = false)
    @CsvSource({
        "attempts, 0", "attempts, -1", "attempts, 1.5", "attempts, many", "attempts, 1000001",
        "attempts, 99999999999999999999", "attempts, ''",
        "priority, 2147483648", "priority, -2147483649", "priority, high",
        "lease, 999ms", "lease, 60", "lease, 0s", "lease, 367d",
        "timeout, 0s", "timeout, 30", "timeout, 367d", "stall, never", "stall, 0ms", "backoff, 2s..1s", "backoff, 2s-1h", "backoff, 7",
        "run, sometimes", "run, Once", "run, ''", "key, id"})
    void refuse_a_bad_value_and_name_it(String name, String value) {
        String message = refusal(name, value);
        assertTrue(message.contains(value), message);
    }

    @ParameterizedTest(name = "refuse backoff={0} for its part {1}", quoteTextArguments = false)
    @CsvSource({"0s..1h, 0s", "2s.., ''", "..1h, ''", "2..4s, 2", "2s..4, 4", "1s..367d, 367d"})
    void refuse_half_a_back_off_and_name_the_half(String value, String part) {
        assertTrue(refusal("backoff", value).matches("(backoff=)?'?" + part + "'? .*"), refusal("backoff", value));
    }

    @ParameterizedTest(name = "take {0}={1}", quoteTextArguments = false)
    @CsvSource({"attempts, 1", "attempts, 1000000", "priority, 2147483647", "priority, -2147483648",
        "lease, 1s", "lease, 366d", "timeout, 1ms", "timeout, 366d", "backoff, 1ms..1ms", "backoff, 1s..366d", "run, added", "key, none"})
    void take_the_least_and_the_most(String name, String value) {
        Options.DEFAULT.with(name, value);
    }

    @ParameterizedTest(name = "know that {0} was meant as {1}", quoteTextArguments = false)
    @CsvSource({"retry, attempts", "retries, attempts", "max_attempts, attempts",
        "Attempts, attempts", "atempts, attempts", "timout, timeout", "deadline, timeout", "prio, priority", "pirority, priority",
        "ttl, lease", "backof, backoff", "delay, backoff", "unique, key", "Run, run", "stal, stall"})
    void say_which_name_was_probably_meant(String typed, String meant) {
        assertEquals("unknown option '" + typed + "'; did you mean '" + meant + "'?", refusal(typed, "1"));
    }

    @ParameterizedTest(name = "do not guess at {0}", quoteTextArguments = false)
    @ValueSource(strings = {"colour", "x", "environment"})
    void name_them_all_when_nothing_is_near(String typed) {
        assertEquals("unknown option '" + typed + "'; the options are attempts, backoff, lease, timeout, stall, priority, run, key",
            refusal(typed, "1"));
    }

    @Test void say_what_a_number_may_be() {
        assertEquals("attempts=0 is not a whole number from 1 to 1000000", refusal("attempts", "0"));
        assertEquals("run=daily is not one of once, added, always", refusal("run", "daily"));
        assertEquals("backoff=1h..2s goes down; write the shorter wait first, for example 2s..1h", refusal("backoff", "1h..2s"));
    }
}
