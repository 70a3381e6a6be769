package sloth;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;

/** Points in time as people write and read them. In the file they are epoch milliseconds; only here are they local. */
public final class Times {

    private static final DateTimeFormatter DAY_AND_TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm[:ss]")
        .withResolverStyle(ResolverStyle.STRICT);
    private static final DateTimeFormatter SHOWN = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss");
    private static final DateTimeFormatter TODAY = DateTimeFormatter.ofPattern("HH:mm:ss");

    private Times() {
    }

    /**
     * {@code 09:00} (the next such), {@code 2026-12-01 09:00}, or ISO with an offset.
     *
     * @return epoch ms
     * @throws IllegalArgumentException with a sentence, also for a local time that the clock skips
     */
    public static long parse(String text, Instant now, ZoneId zone) {
        String t = text.strip();
        try {
            if (t.matches("\\d{1,2}:\\d{2}(:\\d{2})?")) {
                return next(LocalTime.parse(t.length() % 3 == 1 ? "0" + t : t), now.atZone(zone)).toInstant().toEpochMilli();
            }
            if (t.matches("\\d{4}-\\d{2}-\\d{2}[ T]\\d{2}:\\d{2}(:\\d{2})?")) {
                return real(LocalDateTime.parse(t.replace('T', ' '), DAY_AND_TIME), zone, text).toInstant().toEpochMilli();
            }
            return OffsetDateTime.parse(t.replace(' ', 'T')).toInstant().toEpochMilli();
        } catch (DateTimeException | ArithmeticException e) {
            throw new IllegalArgumentException("'" + text
                + "' is not a time; write for example 09:00, '2026-12-01 09:00' or 2026-12-01T09:00:00+01:00");
        }
    }

    /** The first that lies ahead: in the night when the clock goes back, an hour comes twice. */
    private static ZonedDateTime next(LocalTime time, ZonedDateTime now) {
        ZonedDateTime today = now.toLocalDate().atTime(time).atZone(now.getZone());
        for (ZonedDateTime t : new ZonedDateTime[] {today, today.withLaterOffsetAtOverlap()}) {
            if (t.isAfter(now)) {
                real(now.toLocalDate().atTime(time), now.getZone(), now.toLocalDate() + " " + time);
                return t;
            }
        }
        LocalDate tomorrow = now.toLocalDate().plusDays(1);
        return real(tomorrow.atTime(time), now.getZone(), tomorrow + " " + time);
    }

    private static ZonedDateTime real(LocalDateTime local, ZoneId zone, String text) {
        if (zone.getRules().getValidOffsets(local).isEmpty()) {
            throw new IllegalArgumentException("'" + text + "' does not exist in " + zone
                + ": the clock goes forward over it; name another time");
        }
        return local.atZone(zone);
    }

    /** Local, with the day where it is not today's. @param now epoch ms */
    public static String shown(long epochMillis, long now) {
        ZonedDateTime t = local(epochMillis);
        return (t.toLocalDate().equals(local(now).toLocalDate()) ? TODAY : SHOWN).format(t);
    }

    private static ZonedDateTime local(long epochMillis) {
        return Instant.ofEpochMilli(epochMillis).atZone(ZoneId.systemDefault());
    }

    /** {@code at 09:00:00 (in 2h5m)} */
    public static String ahead(long epochMillis, long now) {
        String at = "at " + shown(epochMillis, now);
        return epochMillis > now ? at + " (in " + Durations.roughly(Duration.ofMillis(epochMillis - now)) + ")" : at;
    }
}
