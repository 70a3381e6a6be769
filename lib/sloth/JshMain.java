package sloth;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

import com.sun.source.util.JavacTask;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.Diag;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.JShellException;
import jdk.jshell.Snippet;
import jdk.jshell.Snippet.Status;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis.Completeness;
import jdk.jshell.UnresolvedReferenceException;
import jdk.jshell.VarSnippet;
import jdk.jshell.execution.DirectExecutionControl;
import jdk.jshell.spi.ExecutionControl;
import jdk.jshell.spi.ExecutionControlProvider;
import jdk.jshell.spi.ExecutionEnv;

/**
 * Runs one {@code .jsh} file as {@code jshell} would, but fails where {@code jshell} goes on: an exception, a compile
 * error or an unresolved name ends the program with exit code 1 and {@code FILE:LINE: what} on stderr.
 *
 * <p>{@code java -cp DEPS sloth.JshMain FILE.jsh[:FILE.jsh…] [ARG…]}: several files are one script, in their order. A syntax error, an unfinished snippet or a command other than
 * {@code /exit [n]} is found before the first line runs. Types are checked snippet by snippet, as in {@code jshell}, so
 * a wrong type in line 50 shows after line 49 ran. A method may use what a later line defines; calling it before that
 * is an error, and so is a name that is still missing at the end of the file.
 */
public final class JshMain {
    private static final int FRAMES_SHOWN = 30;
    private static final List<String> IMPORTS = Stream.concat(
            Stream.of("java.io.*", "java.math.*", "java.net.*", "java.nio.file.*", "java.util.*", "java.util.concurrent.*",
                    "java.util.function.*", "java.util.prefs.*", "java.util.regex.*", "java.util.stream.*",
                    "static sloth.JshMain.Given.*"),
            Stream.of("module java.base").filter(i -> Runtime.version().feature() >= 25)).toList();   // as jshell 25 does
    private static final Pattern PREVIEW = Pattern.compile("(?m)^//PREVIEW\\b");
    /** Begins no snippet, so it goes on with the line before it (where {@code jshell} wants that dot or {@code else}). */
    private static final Pattern GOES_ON = Pattern.compile("(\\.(?!\\d)|else\\b|catch\\b|finally\\b|\\?|:|&&|\\|\\|).*");
    private static final Pattern ANNOTATION = Pattern.compile("@[\\w.]+(\\(.*\\))?");
    /** What only javac's parser says. */
    private static final Pattern SYNTAX = Pattern.compile("compiler\\.err\\.(([\\w.]+\\.)?expected\\d?|illegal\\..*"
            + "|unclosed\\..*|empty\\.char.*|malformed\\..*|int\\.number.*|orphaned|not\\.stmt|\\w+\\.without\\..*)");
    /** JShell's names for what it wraps around a snippet, and ours. */
    private static final Pattern WRAPPING = Pattern.compile(
            "REPL[./]\\$JShell\\$\\w+[.$]?|sloth\\.JshMain[.$]Given[.$]?|(lambda\\$)?\\$?do_it[\\w$]*"
            + "| of loader jdk\\.jshell\\S* @\\w+|\n  location: class *$");
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

    /** A snippet or a command, and the line of the file where it begins. */
    private record Piece(String file, int line, String text) {
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
    }

    /** The script cannot go on; the message is what the user reads. */
    private static final class Stop extends Exception {
        private static final long serialVersionUID = 1;

        Stop(String message) {
            super(message);
        }
    }

    /**
     * Runs snippets on the main thread, as a program runs. The JDK's "local" engine rewrites each loop (so that a user
     * can interrupt it), calls {@code toString()} on each value, and JShell then keeps silent when a class does not load.
     */
    private static final class Engine extends DirectExecutionControl implements ExecutionControlProvider {
        Object value;
        private String unloadable;

        @Override protected String invoke(Method snippet) throws Exception {
            value = snippet.invoke(null);
            return "";
        }

        @Override public String invoke(String type, String method) throws RunException, EngineTerminationException {
            try {
                return super.invoke(type, method);
            } catch (InternalException e) {
                String why = unloadable == null ? e.getMessage() : unloadable;
                throw new UserException(why, "java.lang.LinkageError", new StackTraceElement[0]);
            }
        }

        @Override public void load(ClassBytecodes[] classes)
                throws ClassInstallException, NotImplementedException, EngineTerminationException {
            try {
                super.load(classes);
            } catch (ClassInstallException e) {
                unloadable = e.getMessage();
                throw e;
            }
        }

        @Override public String name() {
            return "sloth";
        }

        @Override public ExecutionControl generate(ExecutionEnv env, Map<String, String> parameters) {
            return this;
        }
    }

    /** A snippet in the clothes of a whole file, for the parser. */
    private static final class Wrapped extends SimpleJavaFileObject {
        private final String before;
        private final String text;

        Wrapped(String before, Piece piece, String after) {
            super(URI.create("snippet:///line" + piece.line + ".java"), Kind.SOURCE);
            this.before = before;
            this.text = before + piece.text + "\n;" + after;
        }

        static List<Wrapped> all(Piece p) {
            if (p.isCommand()) {
                return List.of();
            }
            return p.word().equals("import") ? List.of(new Wrapped("", p, ""))
                    : List.of(new Wrapped("class S { void s() { ", p, "}}"), new Wrapped("class S { ", p, "}"),
                            new Wrapped("class S { Object s = ", p, "}"));
        }

        /** Where in the snippet. */
        long offset(Diagnostic<?> error) {
            return error.getPosition() - before.length();
        }

        @Override public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    private String file;   // that is being read
    private final Engine engine = new Engine();
    private final List<String> options = new ArrayList<>(List.of("-proc:none", "-g"));   // -g: a null's name in the message
    private final JShell shell;
    private final Map<String, Piece> pieceOf = new HashMap<>();   // by snippet id, which stack traces name

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
        } catch (Stop e) {
            System.err.println(e.getMessage());
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

    private int run(String[] files, List<String> sources) throws Stop {
        IMPORTS.forEach(i -> shell.eval("import " + i + ";"));
        for (int i = 0; i < files.length; i++) {
            file = files[i];
            for (Piece piece : split(sources.get(i))) {
                if (piece.isCommand()) {
                    return exitCode(piece);
                }
                eval(piece);
            }
        }
        for (Snippet s : shell.snippets().toList()) {
            if (isUnresolved(shell.status(s))) {
                throw at(pieceOf.get(s.id()), needs((DeclarationSnippet) s));
            }
        }
        return 0;
    }

    /** Cuts the file line by line, as {@code jshell} reads it: a line that can end a snippet ends it. */
    private List<Piece> split(String source) throws Stop {
        List<Piece> script = new ArrayList<>();
        String[] lines = source.split("\n", -1);
        String rest = "";
        for (int i = 0; i < lines.length; i++) {
            rest = rest.isEmpty() ? lines[i] : rest + "\n" + lines[i];
            if (goesOn(lines, i)) {
                continue;
            }
            rest = take(rest, i + 1, script);
            if (!script.isEmpty() && script.get(script.size() - 1).isExit()) {
                rest = "";
                break;   // what follows /exit is never read
            }
        }
        int open = lines.length - newlines(rest);
        if (!rest.isEmpty()) {
            script.add(new Piece(file, open, rest));
        }
        refuseBadSyntax(script);
        if (!rest.isEmpty()) {
            throw at(open, "error: begins here and is not finished at the end of the file");
        }
        return script;
    }

    private static boolean goesOn(String[] lines, int i) {
        int next = i + 1;
        while (next < lines.length && (lines[next].isBlank() || lines[next].strip().startsWith("//"))) {
            next++;
        }
        return next < lines.length
                && (GOES_ON.matcher(lines[next].strip()).matches() || ANNOTATION.matcher(lines[i].strip()).matches());
    }

    /** Moves the finished snippets of {@code text}, which ends in line {@code last}, to the script; returns what is left. */
    private String take(String text, int last, List<Piece> script) {
        String rest = text.stripLeading();
        while (!rest.isEmpty()) {
            int line = last - newlines(rest);
            Piece command = new Piece(file, line, rest.split("\n", 2)[0]);
            if (command.isCommand()) {
                script.add(command);
                return "";
            }
            var info = shell.sourceCodeAnalysis().analyzeCompletion(rest);
            if (!info.completeness().isComplete()) {
                return info.completeness() == Completeness.EMPTY ? "" : rest;
            }
            script.add(new Piece(file, line, info.source()));
            rest = info.remaining().stripLeading();
        }
        return "";
    }

    /**
     * Lets javac's parser read each snippet before the first one runs, as an import, as statements, as a member and as
     * a value. When none fits, the one that fits longest tells the error; errors of other kinds wait for {@code eval}.
     */
    private void refuseBadSyntax(List<Piece> script) throws Stop {
        Map<Piece, List<Wrapped>> wrapped = new LinkedHashMap<>();
        script.forEach(p -> wrapped.put(p, Wrapped.all(p)));
        var errors = parse(wrapped.values().stream().flatMap(List::stream).toList());
        for (Piece p : script) {
            if (p.isCommand() && !p.isExit()) {
                throw at(p, "unsupported jshell command '" + p.word() + "'");
            }
            List<Wrapped> tries = wrapped.get(p);
            if (!tries.isEmpty() && errors.keySet().containsAll(tries)) {
                Wrapped best = Collections.max(tries, Comparator.comparingLong(w -> w.offset(errors.get(w))));
                var error = errors.get(best);
                throw new Stop(error(p, best.offset(error), error.getMessage(Locale.ROOT)));
            }
        }
    }

    /** The first error of each file that has one. */
    private Map<JavaFileObject, Diagnostic<? extends JavaFileObject>> parse(List<Wrapped> files) throws Stop {
        var found = new DiagnosticCollector<JavaFileObject>();
        List<String> all = new ArrayList<>(options);
        all.addAll(List.of("-Xmaxerrs", "" + Integer.MAX_VALUE));   // each misfit counts
        try {
            if (!files.isEmpty()) {
                ((JavacTask) ToolProvider.getSystemJavaCompiler().getTask(null, null, found, all, null, files)).parse();
            }
        } catch (IOException e) {
            throw at(1, "javac's parser failed: " + e);
        }
        return found.getDiagnostics().stream().filter(d -> SYNTAX.matcher(d.getCode()).matches())
                .collect(Collectors.toMap(Diagnostic::getSource, d -> d, (first, later) -> first));
    }

    private void eval(Piece piece) throws Stop {
        List<SnippetEvent> events;
        try {
            events = shell.eval(piece.text);
        } catch (RuntimeException | Error e) {
            throw at(piece, "jshell itself failed: " + e);
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
                throw at(piece, needs(variable));   // its initializer has not run, and never would
            }
        }
    }

    private int exitCode(Piece command) throws Stop {
        String expression = command.text.substring(command.word().length()).strip();
        if (expression.isEmpty()) {
            return 0;
        }
        eval(new Piece(command.file, command.line, expression));
        if (engine.value instanceof Integer code) {
            return code;
        }
        throw at(command, "/exit takes an int, not '" + expression + "'");
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

    private Stop at(int line, String what) {
        return at(new Piece(file, line, ""), what);
    }

    private static Stop at(Piece piece, String what) {
        return new Stop(piece.file + ":" + piece.line + ": " + unwrapped(what));
    }

    private Stop compileErrors(Piece piece, Snippet snippet) {
        List<Diag> errors = shell.diagnostics(snippet).filter(Diag::isError).toList();
        return errors.isEmpty() ? at(piece, "error: jshell rejects this and does not say why")
                : new Stop(errors.stream().map(e -> error(piece, e.getPosition(), e.getMessage(Locale.ROOT)))
                        .collect(Collectors.joining("\n")));
    }

    /** As javac shows it: what, the line, a caret, the details. */
    private String error(Piece piece, long at, String message) {
        int position = (int) Math.max(0, Math.min(at, piece.text.length()));
        String before = piece.text.substring(0, position);
        int start = before.lastIndexOf('\n') + 1;
        String[] words = unwrapped(message).split("(?=\n)", 2);
        return piece.file + ":" + (piece.line + newlines(before)) + ": error: " + words[0]
                + "\n    " + piece.text.substring(start).split("\n", 2)[0]
                + "\n    " + before.substring(start).replaceAll("[^\t]", " ") + "^"
                + (words.length == 2 ? words[1] : "");
    }

    private Stop thrown(JShellException exception, Piece piece) {
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
        return new Stop(String.join("\n", lines));
    }

    private String what(Throwable e) {
        if (e instanceof UnresolvedReferenceException unresolved) {
            return needs(unresolved.getSnippet());
        }
        String type = unwrapped(((EvalException) e).getExceptionClassName());
        return e.getMessage() == null ? type : type + ": " + unwrapped(e.getMessage());
    }

    /** The innermost line of the script that was running; for an unresolved method, the line that called it. */
    private String placeOf(Throwable e, List<StackTraceElement> frames, Piece running) {
        return frames.stream().filter(this::isOurs).skip(e instanceof UnresolvedReferenceException ? 1 : 0)
                .findFirst().map(this::placeOf).orElse(running.file + ":" + running.line);
    }

    /** JShell writes the snippet as file name, {@code #12}, and counts lines from its start. */
    private boolean isOurs(StackTraceElement frame) {
        String name = frame.getFileName();
        return name != null && name.startsWith("#") && pieceOf.containsKey(name.substring(1));
    }

    private String placeOf(StackTraceElement frame) {
        Piece piece = pieceOf.get(frame.getFileName().substring(1));
        return piece.file + ":" + (piece.line + frame.getLineNumber() - 1);
    }

    private String show(StackTraceElement frame) {
        if (!isOurs(frame)) {
            return unwrapped(frame.toString());
        }
        String type = unwrapped(frame.getClassName());
        String method = unwrapped(frame.getMethodName()).replaceFirst("^lambda\\$(\\w+)\\$\\d+$", "$1");
        String name = type.isEmpty() || method.isEmpty() ? method : type + "." + method;
        String place = placeOf(frame);
        return name.isEmpty() ? place : name + " (" + place + ")";
    }

    private static String unwrapped(String text) {
        return WRAPPING.matcher(text).replaceAll("");
    }

    private static int newlines(String text) {
        return (int) text.chars().filter(c -> c == '\n').count();
    }
}
