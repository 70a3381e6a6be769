package sloth;

import java.util.regex.Pattern;

/** A snippet or a command of a {@code .jsh} file, and the line where it begins. */
record JshPiece(String file, int line, String text) {

    /** The script cannot go on; the message is what the user reads. */
    static final class Stop extends Exception {
        private static final long serialVersionUID = 1;

        /** What the compiler finds, trying again does not mend: "give up", as jobs say it. */
        static final int WRONG = 65;
        static final int THROWN = 1;

        final int exitCode;

        Stop(int exitCode, String message) {
            super(message);
            this.exitCode = exitCode;
        }
    }

    /** JShell's names for what it wraps around a snippet, and ours. */
    private static final Pattern WRAPPING = Pattern.compile(
        "REPL[./]\\$JShell\\$\\w+[.$]?|sloth\\.JshMain[.$]Given[.$]?|(lambda\\$)?\\$?do_it[\\w$]*"
        + "| of loader jdk\\.jshell\\S* @\\w+|\n  location: class *$");

    boolean isCommand() {
        return text.startsWith("/") && !text.startsWith("//") && !text.startsWith("/*");
    }

    String word() {
        return text.split("\\s", 2)[0];
    }

    /** As in jshell, down to {@code /ex}. */
    boolean isExit() {
        return word().length() > 2 && "/exit".startsWith(word());
    }

    Stop at(String what) {
        return new Stop(Stop.WRONG, file + ":" + line + ": " + unwrapped(what));
    }

    /** As javac shows it: what, the line, a caret, the details. */
    String error(long at, String message) {
        int position = (int) Math.max(0, Math.min(at, text.length()));
        String before = text.substring(0, position);
        int start = before.lastIndexOf('\n') + 1;
        String[] words = unwrapped(message).split("(?=\n)", 2);
        return file + ":" + (line + newlines(before)) + ": error: " + words[0]
            + "\n    " + text.substring(start).split("\n", 2)[0]
            + "\n    " + before.substring(start).replaceAll("[^\t]", " ") + "^"
            + (words.length == 2 ? words[1] : "");
    }

    static String unwrapped(String text) {
        return WRAPPING.matcher(text).replaceAll("");
    }

    static int newlines(String text) {
        return (int) text.chars().filter(c -> c == '\n').count();
    }
}
