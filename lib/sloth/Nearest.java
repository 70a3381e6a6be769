package sloth;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import org.jline.utils.Levenshtein;

/** The name that somebody probably meant: at most a third of its letters wrong; two that changed places are one. */
public final class Nearest {

    private Nearest() {
    }

    public static Optional<String> of(String typed, Collection<String> names) {
        String low = typed.toLowerCase(Locale.ROOT);
        return names.stream()
            .filter(n -> Levenshtein.distance(low, n.toLowerCase(Locale.ROOT)) <= Math.max(1, n.length() / 3))
            .min(Comparator.comparingInt(n -> Levenshtein.distance(low, n.toLowerCase(Locale.ROOT))));
    }
}
