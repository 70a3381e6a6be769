package sloth;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The table: a figure, what it stands beside, their ratio, the goal, and whether it is met. */
final class Figures {

    private static final String LINE = "%-52s %-29s %-23s %-9s %s%n";

    private final PrintStream out;
    private final long start = System.nanoTime();
    private int met;
    private int missed;

    Figures(PrintStream out) {
        this.out = out;
    }

    void head(boolean quick) {
        out.printf("JDK %s, %d processors, load %s%s; WAL, synchronous=FULL, median (least..most)%n", Runtime.version().feature(),
            Runtime.getRuntime().availableProcessors(), load(), quick ? ", quick: a try, not figures to keep" : "");
        out.printf(LINE, "", "figure", "ratio", "goal", "");
    }

    /** How busy the machine is: of two runs the one with less counts. */
    static String load() {
        try {
            return Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
        } catch (IOException e) {
            return "unknown";
        }
    }

    void part(String name) {
        out.println(name);
    }

    void row(String what, Series s, String unit) {
        out.printf(LINE, "  " + what, figure(s, unit), "", "", "");
    }

    void note(String text) {
        out.println("  " + text);
    }

    void atLeast(double goal, String what, Series s, String unit, Series ratio) {
        judged(what, figure(s, unit), spread(ratio), ">= " + goal, ratio.median() >= goal);
    }

    void atMost(double goal, String what, Series s, String unit, Series ratio) {
        judged(what, figure(s, unit), spread(ratio), "<= " + goal, ratio.median() <= goal);
    }

    void judged(String what, String figure, String ratio, String goal, boolean good) {
        met += good ? 1 : 0;
        missed += good ? 0 : 1;
        out.printf(LINE, "  " + what, figure, ratio, goal, good ? "ok" : "short");
    }

    /** @return whether no goal was missed */
    boolean foot() {
        out.printf("%d met, %d short, %.0f s, load %s%n", met, missed, (System.nanoTime() - start) / 1e9, load());
        return missed == 0;
    }

    static String figure(Series s, String unit) {
        return spread(s) + " " + unit;
    }

    private static String spread(Series s) {
        return number(s.median()) + " (" + number(s.least()) + ".." + number(s.most()) + ")";
    }

    private static String number(double d) {
        return String.format(Locale.ROOT, Math.abs(d) < 10 ? "%.2f" : Math.abs(d) < 100 ? "%.1f" : "%.0f", d);
    }
}
