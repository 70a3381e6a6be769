package sloth;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

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

    private final Told stdout = new Told(new FileOutputStream(FileDescriptor.out));
    public final PrintStream out = new PrintStream(stdout, true, StandardCharsets.UTF_8);
    public final PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    private static final int USUAL_WIDTH = 80;

    private final boolean isTty;
    private final boolean colours;

    public Terminal() {
        isTty = leadsToTerminal(1);
        String term = System.getenv("TERM");
        String no = System.getenv("NO_COLOR");
        colours = isTty && (no == null || no.isEmpty()) && !"dumb".equals(term);
    }

    /** Remembers what a {@link PrintStream} swallows. */
    private static final class Told extends FilterOutputStream {
        private volatile IOException trouble;

        Told(OutputStream out) {
            super(out);
        }

        @Override public void write(byte[] bytes, int from, int length) throws IOException {
            try {
                out.write(bytes, from, length);
            } catch (IOException e) {
                trouble = e;
                throw e;
            }
        }
    }

    /** Why stdout did not take all of it; nothing when its reader had enough ({@code | head}). */
    public Optional<String> trouble() {
        out.flush();
        return Optional.ofNullable(stdout.trouble).map(e -> String.valueOf(e.getMessage())).filter(why -> !why.contains("Broken pipe"));
    }

    /** Columns; 80 where it cannot be asked. */
    int width() {
        try {
            Process stty = new ProcessBuilder("sh", "-c", "stty size </dev/tty").redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String[] size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip().split(" ");
            return size.length == 2 && Integer.parseInt(size[1]) > 1 ? Integer.parseInt(size[1]) : USUAL_WIDTH;
        } catch (IOException | NumberFormatException e) {
            return USUAL_WIDTH;
        }
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
