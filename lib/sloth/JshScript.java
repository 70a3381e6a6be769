package sloth;

import com.sun.source.util.JavacTask;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import jdk.jshell.SourceCodeAnalysis;
import jdk.jshell.SourceCodeAnalysis.Completeness;

/** Cuts one {@code .jsh} file into its pieces, and refuses bad syntax before the first of them runs. */
final class JshScript {

    /** Begins no snippet, so it goes on with the line before it (where {@code jshell} wants that dot or {@code else}). */
    private static final Pattern GOES_ON = Pattern.compile("(\\.(?!\\d)|else\\b|catch\\b|finally\\b|\\?|:|&&|\\|\\|).*");
    private static final Pattern ANNOTATION = Pattern.compile("@[\\w.]+(\\(.*\\))?");
    /** What only javac's parser says. */
    private static final Pattern SYNTAX = Pattern.compile("compiler\\.err\\.(([\\w.]+\\.)?expected\\d?|illegal\\..*"
        + "|unclosed\\..*|empty\\.char.*|malformed\\..*|int\\.number.*|orphaned|not\\.stmt|\\w+\\.without\\..*)");

    /** A snippet in the clothes of a whole file, for the parser. */
    private static final class Wrapped extends SimpleJavaFileObject {
        private final String before;
        private final String text;

        Wrapped(String before, JshPiece piece, String after) {
            super(URI.create("snippet:///line" + piece.line() + ".java"), Kind.SOURCE);
            this.before = before;
            this.text = before + piece.text() + "\n;" + after;
        }

        static List<Wrapped> all(JshPiece p) {
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

    private final String file;
    private final SourceCodeAnalysis analysis;
    private final List<String> options;

    /** @param options of javac, as the snippets are compiled with */
    JshScript(String file, SourceCodeAnalysis analysis, List<String> options) {
        this.file = file;
        this.analysis = analysis;
        this.options = options;
    }

    /** Cuts the file line by line, as {@code jshell} reads it: a line that can end a snippet ends it. */
    List<JshPiece> read(String source) throws JshPiece.Stop {
        List<JshPiece> script = new ArrayList<>();
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
        int open = lines.length - JshPiece.newlines(rest);
        if (!rest.isEmpty()) {
            script.add(new JshPiece(file, open, rest));
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
    private String take(String text, int last, List<JshPiece> script) {
        String rest = text.stripLeading();
        while (!rest.isEmpty()) {
            int line = last - JshPiece.newlines(rest);
            JshPiece command = new JshPiece(file, line, rest.split("\n", 2)[0]);
            if (command.isCommand()) {
                script.add(command);
                return "";
            }
            var info = analysis.analyzeCompletion(rest);
            if (!info.completeness().isComplete()) {
                return info.completeness() == Completeness.EMPTY ? "" : rest;
            }
            script.add(new JshPiece(file, line, info.source()));
            rest = info.remaining().stripLeading();
        }
        return "";
    }

    /**
     * Lets javac's parser read each snippet before the first one runs, as an import, as statements, as a member and as
     * a value. When none fits, the one that fits longest tells the error; errors of other kinds wait for {@code eval}.
     */
    private void refuseBadSyntax(List<JshPiece> script) throws JshPiece.Stop {
        Map<JshPiece, List<Wrapped>> wrapped = new LinkedHashMap<>();
        script.forEach(p -> wrapped.put(p, Wrapped.all(p)));
        var errors = parse(wrapped.values().stream().flatMap(List::stream).toList());
        for (JshPiece p : script) {
            if (p.isCommand() && !p.isExit()) {
                throw p.at("unsupported jshell command '" + p.word() + "'");
            }
            List<Wrapped> tries = wrapped.get(p);
            if (!tries.isEmpty() && errors.keySet().containsAll(tries)) {
                Wrapped best = Collections.max(tries, Comparator.comparingLong(w -> w.offset(errors.get(w))));
                var error = errors.get(best);
                throw new JshPiece.Stop(JshPiece.Stop.WRONG, p.error(best.offset(error), error.getMessage(Locale.ROOT)));
            }
        }
    }

    /** The first error of each file that has one. */
    private Map<JavaFileObject, Diagnostic<? extends JavaFileObject>> parse(List<Wrapped> files) throws JshPiece.Stop {
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

    private JshPiece.Stop at(int line, String what) {
        return new JshPiece(file, line, "").at(what);
    }
}
