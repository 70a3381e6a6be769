package sloth;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Under a locale that is not UTF-8 Java turns {@code ü} into {@code ?}, in arguments and in paths, and says nothing. */
public final class Locales {

    static final String UTF8 = System.getProperty("os.name").startsWith("Mac") ? "en_US.UTF-8" : "C.UTF-8";

    private Locales() {
    }

    /** By the rule of POSIX: the first of LC_ALL, LC_CTYPE and LANG that is set. */
    static boolean isUtf8(Map<String, String> environment) {
        for (String name : List.of("LC_ALL", "LC_CTYPE", "LANG")) {
            String value = environment.getOrDefault(name, "");
            if (!value.isEmpty()) {
                return value.toLowerCase(Locale.ROOT).replace("-", "").contains("utf8");
            }
        }
        return System.getProperty("os.name").startsWith("Mac");
    }

    /** What has already been lost cannot be brought back: better to refuse than to work on another name. */
    public static boolean mayHaveLost(String... texts) {
        boolean utf8 = "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding"));
        for (String text : texts) {
            if (!utf8 && (!StandardCharsets.US_ASCII.newEncoder().canEncode(text))) {
                return true;
            }
        }
        return false;
    }
}
