package sloth;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.Snippet.Status;
import jdk.jshell.SnippetEvent;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.VarSnippet;

/**
 * Runs one {@code .jsh} file as {@code jshell} would, but fails where {@code jshell} goes on, with {@code FILE:LINE: what}
 * on stderr: an exception ends the program with exit code 1, a compile error or an unresolved name with 65.
 *
 * <p>{@code java -cp DEPS sloth.JshMain FILE.jsh[:FILE.jsh…] [ARG…]}: several files are one script, in their order. A
 * syntax error, an unfinished snippet or a command other than {@code /exit [n]} is found before the first line runs.
 * Types are checked snippet by snippet, as in {@code jshell}, so a wrong type in line 50 shows after line 49 ran. A
 * method may use what a later line defines; calling it before that is an error, and so is a name that is still missing
 * at the end of the file.
 */
public final class JshMain {
    private static final int FRAMES_SHOWN = 30;
    private static final List<String> IMPORTS = Stream.concat(
        Stream.of("java.io.*", "java.math.*", "java.net.*", "java.nio.file.*", "java.util.*", "java.util.concurrent.*",
            "java.util.function.*", "java.util.prefs.*", "java.util.regex.*", "java.util.stream.*",
            "static sloth.JshMain.Given.*"),
        Stream.of("module java.base").filter(i -> Runtime.version().feature() >= 25)).toList();   // as jshell 25 does
    private static final Pattern PREVIEW = Pattern.compile("(?m)^//PREVIEW\\b");
    private static final Pattern MACHINERY = Pattern.compile("^(sloth\\.JshMain|jdk\\.jshell\\.|jdk\\.internal\\.reflect\\.)");

    /** What a script sees without an import, besides {@link #IMPORTS}: what JBang gives to a {@code .jsh}. */
    public static final class Given {
        public static String[] args = {};

        private Given() {}

        public static Stream<String> lines() { return new BufferedReader(new InputStreamReader(System.in)).lines(); }
        public static Stream<String> lines(String path) throws IOException { return Files.lines(Path.of(path)); }
        public static void print(char[] s) { System.out.print(s); }
        public static void print(Object o) { System.out.print(o); }
        public static void println() { System.out.println(); }
        public static void println(char[] s) { System.out.println(s); }
        public static void println(Object o) { System.out.println(o); }
        public static void printf(String format, Object... args) { System.out.printf(format, args); }
        public static void printf(Locale l, String format, Object... args) { System.out.printf(l, format, args); }
    }

    private final JshEngine engine = new JshEngine();
    private final List<String> options = new ArrayList<>(List.of("-proc:none", "-g"));   // -g: a null's name in the message
    private final JShell shell;
    private final Map<String, JshPiece> pieceOf = new HashMap<>();   // by snippet id, which stack traces name

    private JshMain(boolean preview) {
        if (preview) {
            options.addAll(List.of("--enable-preview", "-source", "" + Runtime.version().feature()));
        }
        this.shell = JShell.builder().executionEngine(engine, Map.of()).compilerOptions(options.toArray(String[]::new)).build();
    }

    public static void main(String[] words) {
        if (words.length == 0) {
            System.err.println("usage: java -cp DEPS sloth.JshMain FILE.jsh[:FILE.jsh...] [ARG...]");
            System.exit(2);
        }
        Given.args = Arrays.copyOfRange(words, 1, words.length);
        String[] files = words[0].split(Pattern.quote(File.pathSeparator));
        int exit = 1;
        try {
            List<String> sources = new ArrayList<>();
            for (String file : files) {
                sources.add(plain(Files.readString(Path.of(file))));
            }
            exit = new JshMain(sources.stream().anyMatch(t -> PREVIEW.matcher(t).find())).run(files, sources);
        } catch (JshPiece.Stop e) {
            System.err.println(e.getMessage());
            exit = e.exitCode;
        } catch (NoSuchFileException e) {
            System.err.println(words[0] + ": no such file");
        } catch (IOException e) {
            System.err.println(words[0] + ": cannot be read as UTF-8 text: " + e);
        }
        System.exit(exit);   // and so ends the threads that the script left behind, as jshell does
    }

    /** The text with {@code \n} alone, without a byte order mark, and an empty line where {@code #!} stood. */
    private static String plain(String source) {
        String text = source.startsWith("\uFEFF") ? source.substring(1) : source;
        return text.replaceFirst("^#!.*", "").replaceAll("\r\n?", "\n");
    }

    private int run(String[] files, List<String> sources) throws JshPiece.Stop {
        IMPORTS.forEach(i -> shell.eval("import " + i + ";"));
        for (int i = 0; i < files.length; i++) {
            for (JshPiece piece : new JshScript(files[i], shell.sourceCodeAnalysis(), options).read(sources.get(i))) {
                if (piece.isCommand()) {
                    return exitCode(piece);
                }
                eval(piece);
            }
        }
        for (Snippet s : shell.snippets().toList()) {
            if (isUnresolved(shell.status(s))) {
                throw pieceOf.get(s.id()).at(needs((DeclarationSnippet) s));
            }
        }
        return 0;
    }

    private void eval(JshPiece piece) throws JshPiece.Stop {
        List<SnippetEvent> events;
        try {
            events = shell.eval(piece.text());
        } catch (RuntimeException | Error e) {
            throw new JshPiece.Stop(JshPiece.Stop.THROWN, piece.file() + ":" + piece.line() + ": jshell itself failed: " + e);
        }
        events.stream().filter(e -> e.causeSnippet() == null).forEach(e -> pieceOf.put(e.snippet().id(), piece));
        for (SnippetEvent e : events) {
            if (e.exception() != null) {
                throw thrown(e.exception(), piece);
            }
            if (e.status() == Status.REJECTED) {
                throw compileErrors(pieceOf.get(e.snippet().id()), e.snippet());
            }
            if (e.snippet() instanceof VarSnippet variable && isUnresolved(e.status())) {
                throw piece.at(needs(variable));   // its initializer has not run, and never would
            }
        }
    }

    private int exitCode(JshPiece command) throws JshPiece.Stop {
        String expression = command.text().substring(command.word().length()).strip();
        if (expression.isEmpty()) {
            return 0;
        }
        eval(new JshPiece(command.file(), command.line(), expression));
        if (engine.value instanceof Integer code) {
            return code;
        }
        throw command.at("/exit takes an int, not '" + expression + "'");
    }

    private static boolean isUnresolved(Status status) {
        return status == Status.RECOVERABLE_DEFINED || status == Status.RECOVERABLE_NOT_DEFINED;
    }

    /** JShell takes a method or class whose body does not compile yet, in the hope of later snippets. */
    private String needs(DeclarationSnippet snippet) {
        String missing = shell.unresolvedDependencies(snippet).collect(Collectors.joining(", "));
        return "error: '" + snippet.name() + (missing.isEmpty()
            ? "' does not compile:\n" + compileErrors(pieceOf.get(snippet.id()), snippet).getMessage()
            : "' uses what is not defined: " + missing);
    }

    private JshPiece.Stop compileErrors(JshPiece piece, Snippet snippet) {
        List<Diag> errors = shell.diagnostics(snippet).filter(Diag::isError).toList();
        return errors.isEmpty() ? piece.at("error: jshell rejects this and does not say why")
            : new JshPiece.Stop(JshPiece.Stop.WRONG, errors.stream().map(e -> piece.error(e.getPosition(), e.getMessage(Locale.ROOT)))
                .collect(Collectors.joining("\n")));
    }

    private JshPiece.Stop thrown(JShellException exception, JshPiece piece) {
        List<String> lines = new ArrayList<>();
        List<StackTraceElement> above = List.of();
        for (Throwable e = exception; e != null; e = e.getCause()) {
            List<StackTraceElement> frames = Arrays.stream(e.getStackTrace())
                .filter(f -> !MACHINERY.matcher(f.getClassName()).find()).toList();
            lines.add((e == exception ? placeOf(e, frames, piece) + ": " : "caused by ") + what(e));
            int own = frames.size();
            for (int up = above.size(); own > 0 && up > 0 && frames.get(own - 1).equals(above.get(up - 1)); up--) {
                own--;   // the outer exception showed this frame
            }
            frames.stream().limit(Math.min(own, FRAMES_SHOWN)).forEach(f -> lines.add("\tat " + show(f)));
            if (own > FRAMES_SHOWN) {
                lines.add("\t... " + (own - FRAMES_SHOWN) + " more");
            }
            above = frames;
        }
        return new JshPiece.Stop(JshPiece.Stop.THROWN, String.join("\n", lines));
    }

    private String what(Throwable e) {
        if (e instanceof UnresolvedReferenceException unresolved) {
            return needs(unresolved.getSnippet());
        }
        String type = JshPiece.unwrapped(((EvalException) e).getExceptionClassName());
        return e.getMessage() == null ? type : type + ": " + JshPiece.unwrapped(e.getMessage());
    }

    /** The innermost line of the script that was running; for an unresolved method, the line that called it. */
    private String placeOf(Throwable e, List<StackTraceElement> frames, JshPiece running) {
        return frames.stream().filter(this::isOurs).skip(e instanceof UnresolvedReferenceException ? 1 : 0)
            .findFirst().map(this::placeOf).orElse(running.file() + ":" + running.line());
    }

    /** JShell writes the snippet as file name, {@code #12}, and counts lines from its start. */
    private boolean isOurs(StackTraceElement frame) {
        String name = frame.getFileName();
        return name != null && name.startsWith("#") && pieceOf.containsKey(name.substring(1));
    }

    private String placeOf(StackTraceElement frame) {
        JshPiece piece = pieceOf.get(frame.getFileName().substring(1));
        return piece.file() + ":" + (piece.line() + frame.getLineNumber() - 1);
    }

    private String show(StackTraceElement frame) {
        if (!isOurs(frame)) {
            return JshPiece.unwrapped(frame.toString());
        }
        String type = JshPiece.unwrapped(frame.getClassName());
        String method = JshPiece.unwrapped(frame.getMethodName()).replaceFirst("^lambda\\$(\\w+)\\$\\d+$", "$1");
        String name = type.isEmpty() || method.isEmpty() ? method : type + "." + method;
        String place = placeOf(frame);
        return name.isEmpty() ? place : name + " (" + place + ")";
    }
}
