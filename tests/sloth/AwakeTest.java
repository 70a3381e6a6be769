package sloth;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Boot-time beyond monotonic is sleep, wall beyond boot-time is a step, all of them beyond the tick is a pause. */
@DisplayName("Awake time")
class AwakeTest {

    private static final Awake.Gap NONE = new Awake.Gap(0, 0, 0);

    private final TestClock clock = new TestClock();
    private final Awake awake = new Awake(clock);

    private long awakeMillis() {
        return awake.nanos() / 1_000_000;
    }

    private static Awake.Gap asleep(Duration d) {
        return new Awake.Gap(d.toMillis(), 0, 0);
    }

    private static Awake.Gap paused(Duration d) {
        return new Awake.Gap(0, d.toMillis(), 0);
    }

    private static Awake.Gap stepped(Duration d) {
        return new Awake.Gap(0, 0, d.toMillis());
    }

    @Test void goes_on_with_each_tick() {
        for (int n = 0; n < 40; n++) {
            clock.pass(ofMillis(250));
            assertEquals(NONE, awake.tick());
        }
        assertEquals(10_000, awakeMillis());
    }

    @Test void stands_still_between_ticks() {
        clock.pass(ofSeconds(1));
        assertEquals(0, awakeMillis());
    }

    @Test void does_not_count_the_sleep_of_the_machine() {
        clock.sleep(ofHours(8));
        clock.pass(ofMillis(250));
        assertEquals(asleep(ofHours(8)), awake.tick());
        assertEquals(250, awakeMillis());
        assertEquals(NONE, awake.tick());
    }

    @Test void does_not_count_a_pause_of_this_process() {
        clock.pass(ofSeconds(5));
        assertEquals(paused(ofSeconds(5)), awake.tick());
        assertEquals(0, awakeMillis());
    }

    @Test void counts_a_busy_machines_delay_and_no_more() {
        clock.pass(ofMillis(2_999));
        assertEquals(NONE, awake.tick());
        assertEquals(2_999, awakeMillis());
        clock.pass(ofMillis(3_000));
        assertEquals(paused(ofSeconds(3)), awake.tick());
        assertEquals(2_999, awakeMillis());
    }

    @Test void takes_a_short_sleep_for_none() {
        clock.sleep(ofMillis(2_999));
        assertEquals(NONE, awake.tick());
        clock.sleep(ofMillis(3_000));
        assertEquals(asleep(ofSeconds(3)), awake.tick());
    }

    @Test void does_not_care_for_the_wall_clock() {
        clock.step(ofHours(5));
        clock.pass(ofMillis(250));
        assertEquals(stepped(ofHours(5)), awake.tick());
        clock.step(ofHours(-9));
        clock.pass(ofMillis(250));
        assertEquals(stepped(ofHours(-9)), awake.tick());
        assertEquals(500, awakeMillis());
    }

    @Test void takes_a_small_correction_of_the_clock_for_none() {
        clock.step(ofMillis(-2_999));
        assertEquals(NONE, awake.tick());
        clock.step(ofMillis(-3_000));
        assertEquals(stepped(ofSeconds(-3)), awake.tick());
    }

    @Test void tells_a_sleep_and_a_step_apart_when_both_came() {
        clock.sleep(ofHours(8));
        clock.step(ofHours(-2));
        assertEquals(new Awake.Gap(ofHours(8).toMillis(), 0, ofHours(-2).toMillis()), awake.tick());
    }

    @Test void tells_a_sleep_and_a_pause_apart_when_both_came() {
        clock.sleep(ofHours(8));
        clock.pass(ofSeconds(10));
        Awake.Gap gap = awake.tick();
        assertEquals(new Awake.Gap(ofHours(8).toMillis(), 10_000, 0), gap);
        assertEquals(ofHours(8).plusSeconds(10), gap.away());
        assertTrue(gap.isGap());
        assertFalse(NONE.isGap());
    }

    @Test void without_boot_time_takes_a_jump_forward_for_a_sleep_and_one_back_for_a_step() {
        clock.withoutUptime();
        Awake blind = new Awake(clock);
        clock.sleep(ofHours(8));
        clock.pass(ofMillis(250));
        assertEquals(asleep(ofHours(8)), blind.tick());
        clock.step(ofHours(1));
        assertEquals(asleep(ofHours(1)), blind.tick(), "nothing tells the two apart there");
        clock.step(ofHours(-1));
        clock.pass(ofMillis(250));
        assertEquals(stepped(ofHours(-1)), blind.tick());
        clock.pass(ofSeconds(5));
        assertEquals(paused(ofSeconds(5)), blind.tick());
        assertEquals(500_000_000, blind.nanos());
    }
}
