package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** slothq as users start it, and a program of one line with the same dependencies and options. */
record Programs(Path root, Path hello, Program slothqJava, Program helloJava) {

    static Programs build(Path folder) throws Exception {
        Path root = Path.of("").toAbsolutePath();
        Path entry = root.resolve("slothq.java");
        if (!Files.exists(entry)) {
            throw new IOException("no slothq.java in " + root + "; start the benchmark from the project's folder");
        }
        Path hello = folder.resolve("hello.java");
        try (var lines = Files.lines(entry)) {
            String head = lines.filter(l -> l.matches("//(JAVA|DEPS|RUNTIME_OPTIONS) .*")).collect(Collectors.joining("\n"));
            Files.writeString(hello, head + """

                public class hello {
                    public static void main(String[] args) {
                        System.out.println("hello");
                    }
                }
                """);
        }
        JBangBuild build = new JBangBuild(folder.resolve("cache"), line -> { });
        return new Programs(root, hello, build.build(entry), build.build(hello));
    }

    /** The java command that JBang would print. */
    List<String> slothq(String... args) {
        return slothqJava.command(List.of(args));
    }

    List<String> helloCommand() {
        return helloJava.command(List.of());
    }

    boolean hasWrapper() {
        return Files.isExecutable(root.resolve("jbang"));
    }

    List<String> throughWrapper(Path script, String... args) {
        List<String> command = new ArrayList<>(List.of(root.resolve("jbang").toString(), script.toString()));
        command.addAll(List.of(args));
        return command;
    }

    /** Runs it in a folder to its end, which must be a good one. */
    static void run(Path folder, List<String> command) throws IOException, InterruptedException {
        int code = started(folder, command).waitFor();
        if (code != 0) {
            throw new IOException("exit " + code + ": " + String.join(" ", command));
        }
    }

    static Process started(Path folder, List<String> command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("JBANG_"));
        return builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }
}
