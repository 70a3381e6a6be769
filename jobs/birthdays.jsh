// A JShell script, Java without a class around it: birthdays in data/birthdays.txt become a calendar,
// out/birthdays.ics, that a phone or a mail program takes. A line that is no birthday is an exception, and an exception
// fails the job with file and line, where jshell itself would go on and exit 0.

import java.nio.file.*;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;

String event(LocalDate day, String name) {
    String start = DateTimeFormatter.BASIC_ISO_DATE.format(day);
    return String.join("\r\n", "BEGIN:VEVENT", "UID:" + start + "-" + Integer.toHexString(name.hashCode()) + "@birthdays",
        "DTSTAMP:" + start + "T000000Z", "DTSTART;VALUE=DATE:" + start, "RRULE:FREQ=YEARLY",
        "SUMMARY:" + name + " (" + day.getYear() + ")", "TRANSP:TRANSPARENT", "END:VEVENT", "");
}

StringBuilder calendar = new StringBuilder("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//slothq//birthdays//EN\r\n");
int people = 0;
for (String line : Files.readAllLines(Path.of("data", "birthdays.txt"))) {
    if (!line.isBlank()) {
        calendar.append(event(LocalDate.parse(line.substring(0, 10)), line.substring(10).strip()));
        people++;
    }
}
calendar.append("END:VCALENDAR\r\n");

Files.createDirectories(Path.of("out"));
Path part = Files.writeString(Path.of("out", "birthdays.part"), calendar);
Files.move(part, Path.of("out", "birthdays.ics"), StandardCopyOption.ATOMIC_MOVE);
System.out.println(people + " birthdays, see out/birthdays.ics");
