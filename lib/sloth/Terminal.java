package sloth;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The two streams a person or a program reads: data on stdout, everything else on stderr, both UTF-8. Colour only for
 * a person's eyes, and only where it is wanted.
 */
public final class Terminal {

    /** How a word is coloured. */
    public enum Tone {
        GOOD("32"), BAD("31"), WAITS("33"), FAINT("2"), STRONG("1");

        private final String code;

        Tone(String code) {
            this.code = code;
        }
    }

    public final PrintStream out = stream(FileDescriptor.out);
    public final PrintStream err = stream(FileDescriptor.err);
    private final boolean isTty;
    private final boolean colours;

    public Terminal() {
        isTty = leadsToTerminal(1);
        String term = System.getenv("TERM");
        String no = System.getenv("NO_COLOR");
        colours = isTty && (no == null || no.isEmpty()) && !"dumb".equals(term);
    }

    private static PrintStream stream(FileDescriptor fd) {
        return new PrintStream(new FileOutputStream(fd), true, StandardCharsets.UTF_8);
    }

    /** The JDK's console is null or not by rules that changed with JDK 22; on Linux the kernel says what stdout is. */
    private static boolean leadsToTerminal(int fd) {
        try {
            Path target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd));
            return target.startsWith("/dev/pts") || target.toString().startsWith("/dev/tty") || target.startsWith("/dev/console");
        } catch (IOException | RuntimeException e) {
            Console console = System.console();
            return console != null && Runtime.version().feature() < 22;
        }
    }

    public boolean isTty() {
        return isTty;
    }

    public String tone(Tone tone, String text) {
        return colours ? "\u001b[" + tone.code + "m" + text + "\u001b[0m" : text;
    }

    public String state(State state) {
        return switch (state) {
            case DONE -> tone(Tone.GOOD, state.word());
            case FAILED -> tone(Tone.BAD, state.word());
            case CLAIMED -> tone(Tone.STRONG, state.word());
            case PENDING -> tone(Tone.WAITS, state.word());
            case CANCELLED -> tone(Tone.FAINT, state.word());
        };
    }

    /** Pads the text, not its colour. */
    public String column(Tone tone, String text, int width) {
        return tone(tone, text) + " ".repeat(Math.max(0, width - text.length()));
    }
}
