package sloth;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** The name that somebody probably meant: at most a third of its letters wrong, by edit distance. */
public final class Nearest {

    private Nearest() {
    }

    public static Optional<String> of(String typed, Collection<String> names) {
        String low = typed.toLowerCase(Locale.ROOT);
        return names.stream()
            .filter(n -> distance(low, n.toLowerCase(Locale.ROOT)) <= Math.max(1, n.length() / 3))
            .min(Comparator.comparingInt(n -> distance(low, n.toLowerCase(Locale.ROOT))));
    }

    /** Levenshtein's, one row at a time. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int above = row[j];
                int swap = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(swap, Math.min(above, row[j - 1]) + 1);
                diagonal = above;
            }
        }
        return row[b.length()];
    }
}
