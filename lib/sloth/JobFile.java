package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A file directly in {@code jobs/}, as it is now.
 *
 * @param kind    how it runs; null when it cannot
 * @param options what its head asks for; the defaults where the head is wrong
 * @param problem what keeps it from running, in one line with file and line number; null when nothing does
 */
public record JobFile(Path path, Kind kind, Options options, String problem) {

    /** How a job file runs. */
    public enum Kind {
        JAVA, HOSTED, KOTLIN, GROOVY, MARKDOWN, JSHELL, SCRIPT;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Options stand at the top; a binary has no reason to be read whole. */
    private static final int HEAD_BYTES = 1 << 18;
    private static final Pattern NOT_DISCOVERED = Pattern.compile("[._].*|.*~|.*\\.(?:bak|orig|tmp)", Pattern.DOTALL);
    private static final Pattern IMPLEMENTS_JOB =
        Pattern.compile("\\b(?:class|record|enum)\\s+\\w[^{;]*\\bimplements\\b[^{;]*\\b(?:sloth\\.)?Job\\b");

    public String name() {
        return path.getFileName().toString();
    }

    /** As error messages call it. */
    String place() {
        return "jobs/" + name();
    }

    public boolean isDiscovered() {
        return kind != Kind.MARKDOWN && !name().toLowerCase(Locale.ROOT).endsWith(".md");
    }

    /** The files that discovery looks at, by name; {@code .md} files too, which it passes over. */
    public static List<JobFile> all(QueueFolder folder) {
        return paths(folder).stream().filter(JobFile::mayBeDiscovered).map(JobFile::read).toList();
    }

    /**
     * The file that a user means: its name, or its name without the extension where that is unique.
     *
     * @throws SlothException when there is none, or more than one
     */
    public static JobFile named(QueueFolder folder, String typed) {
        String name = typed.startsWith("jobs/") ? typed.substring("jobs/".length()) : typed;
        List<Path> all = paths(folder);
        Optional<Path> exact = all.stream().filter(p -> p.getFileName().toString().equals(name)).findFirst();
        if (exact.isPresent()) {
            return read(exact.get());
        }
        List<Path> close = all.stream().filter(p -> stem(p).equals(name) && mayBeDiscovered(p)).toList();
        if (close.size() == 1) {
            return read(close.get(0));
        }
        if (close.size() > 1) {
            List<String> either = close.stream().map(p -> p.getFileName().toString()).toList();
            throw SlothException.refused("'" + name + "' could be " + String.join(" or ", either) + "; say which");
        }
        List<String> names = all.stream().map(p -> p.getFileName().toString()).toList();
        throw SlothException.refused("no job file '" + name + "' in " + folder.jobs() + "; "
            + Nearest.of(name, names).or(() -> Nearest.of(name, all.stream().map(JobFile::stem).toList()))
                .map(n -> "did you mean '" + n + "'?").orElse("'slothq jobs' shows those there are"));
    }

    private static boolean mayBeDiscovered(Path p) {
        return !NOT_DISCOVERED.matcher(p.getFileName().toString()).matches();
    }

    private static String stem(Path p) {
        String name = p.getFileName().toString();
        int dot = name.lastIndexOf('.');
        return dot < 1 ? name : name.substring(0, dot);
    }

    private static List<Path> paths(QueueFolder folder) {
        if (!Files.isDirectory(folder.jobs())) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder.jobs())) {
            return files.filter(p -> !p.getFileName().toString().startsWith(".")).filter(Files::isRegularFile)
                .sorted(Comparator.comparing(p -> p.getFileName().toString())).toList();
        } catch (IOException e) {
            throw Trouble.of(folder.jobs(), e);
        }
    }

    static JobFile read(Path path) {
        String place = "jobs/" + path.getFileName();
        if (Locales.mayHaveLost(place)) {
            return new JobFile(path, null, Options.DEFAULT,
                place + ": its name is not ASCII and the locale is not UTF-8; set LC_ALL=" + Locales.UTF8);
        }
        String head;
        try {
            head = head(path);
        } catch (IOException e) {
            return new JobFile(path, null, Options.DEFAULT, place + ": cannot be read; check who may read it");
        }
        Kind kind = kind(path, head);
        try {
            Options options = JobHead.read(head);
            return new JobFile(path, kind, options, kind == null ? place + ": cannot be run: no #! line and no run bit; "
                + "'chmod +x' it, or call it _" + path.getFileName() + " to keep it here" : shebangProblem(place, kind, head));
        } catch (JobHead.Wrong e) {
            return new JobFile(path, kind, Options.DEFAULT, place + ":" + e.line + ": " + e.getMessage());
        }
    }

    private static String head(Path path) throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            String text = new String(in.readNBytes(HEAD_BYTES), StandardCharsets.UTF_8);
            return text.startsWith("\ufeff") ? text.substring(1) : text;
        }
    }

    private static Kind kind(Path path, String head) {
        String name = path.getFileName().toString();
        String ending = name.substring(name.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
        return switch (ending) {
            case "java" -> IMPLEMENTS_JOB.matcher(head).find() ? Kind.HOSTED : Kind.JAVA;
            case "kt" -> Kind.KOTLIN;
            case "groovy" -> Kind.GROOVY;
            case "md" -> Kind.MARKDOWN;
            case "jsh" -> Kind.JSHELL;
            default -> head.startsWith("#!") || Files.isExecutable(path) ? Kind.SCRIPT : null;
        };
    }

    private static String shebangProblem(String place, Kind kind, String head) {
        int end = head.indexOf('\n');
        boolean windows = kind == Kind.SCRIPT && head.startsWith("#!") && end > 0 && head.charAt(end - 1) == '\r';
        return !windows ? null
            : place + ":1: the #! line ends as on Windows, so its interpreter would not be found; save the file with Unix line ends";
    }

    /** The words of the {@code #!} line, at most two, as the kernel splits it; empty when there is none. */
    List<String> interpreter() throws IOException {
        String head = head(path);
        if (!head.startsWith("#!")) {
            return List.of();
        }
        return List.of(head.substring(2).lines().findFirst().orElse("").strip().split("\\s+", 2));
    }

    /** A digest of the whole content: what a finished job ran. */
    String digest() throws IOException {
        try (InputStream in = Files.newInputStream(path)) {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                sha.update(buffer, 0, n);
            }
            return HexFormat.of().formatHex(sha.digest(), 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** @throws SlothException with the problem, when it has one */
    public NewJob toAdd() {
        if (problem != null) {
            throw SlothException.refused(problem);
        }
        return NewJob.file(name()).options(options);
    }
}
