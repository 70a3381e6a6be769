package sloth;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Whole processes, in a new queue and in one of many jobs, beside a program of one line: by the java command that JBang
 * gives, and through the wrapper, as users type it.
 */
final class StartBench implements Bench {

    private static final double GOAL = 1.3;
    private static final String JAVA = "java";

    @Override public void run(Path folder, boolean quick, Figures figures) throws Exception {
        int many = quick ? 5_000 : 100_000;
        Path few = queue(folder.resolve("few"), 0);
        Path full = queue(folder.resolve("full"), many);
        Programs programs = Programs.build(folder);
        Map<String, List<String>> java = commands(programs::slothq);
        measure(JAVA, quick, folder, few, full, many, programs.helloCommand(), java, figures);
        if (!programs.hasWrapper()) {
            figures.note("no ./jbang here: left out");
            return;
        }
        Path entry = programs.root().resolve("slothq.java");
        measure("./jbang", quick, folder, few, full, many, programs.throughWrapper(programs.hello()),
            commands(args -> programs.throughWrapper(entry, args)), figures);
    }

    private interface Start {
        List<String> of(String... args);
    }

    private static Map<String, List<String>> commands(Start start) {
        Map<String, List<String>> commands = new LinkedHashMap<>();
        commands.put("status", start.of("status"));
        commands.put("add", start.of("add", "--", "true"));
        commands.put("run", start.of("run", "--no-wait"));
        return commands;
    }

    private static void measure(String way, boolean quick, Path folder, Path few, Path full, int many, List<String> hello,
                                Map<String, List<String>> commands, Figures figures) throws Exception {
        Path claims = queue(folder.resolve(way.equals(JAVA) ? "claims" : "claims2"), 0);
        Map<String, Series> millis = new Contest()
            .measured("hello", () -> millis(folder, hello))
            .measured("status, a new queue", () -> millis(few, commands.get("status")))
            .measured("status, " + many + " jobs", () -> millis(full, commands.get("status")))
            .measured("add, a new queue", () -> millis(few, commands.get("add")))
            .measured("add, " + many + " jobs", () -> millis(full, commands.get("add")))
            .measured("run, to its first claim", () -> millisToClaim(claims, commands.get("run")))
            .rounds(quick ? 3 : 9);
        Series least = millis.remove("hello");
        figures.row(way + ": hello", least, "ms");
        if (way.equals(JAVA)) {
            millis.forEach((what, s) -> figures.row(way + ": " + what, s, "ms"));
        } else {
            millis.forEach((what, s) -> figures.atMost(GOAL, way + ": " + what, s, "ms", s.over(least)));
        }
    }

    private static Path queue(Path folder, int jobs) throws Exception {
        Files.createDirectories(folder.resolve("jobs"));
        try (SlothQueue queue = SlothQueue.open(folder)) {
            queue.addAll("bench", Stream.generate(() -> NewJob.command("true")).limit(jobs).iterator());
        }
        return folder;
    }

    private static double millis(Path folder, List<String> command) throws Exception {
        long start = System.nanoTime();
        Programs.run(folder, command);
        return (System.nanoTime() - start) / 1e6;
    }

    /** By the time that the claim has in the ledger. */
    private static double millisToClaim(Path folder, List<String> command) throws Exception {
        try (SlothQueue queue = SlothQueue.open(folder)) {
            long id = queue.add(NewJob.command("true")).id();
            long start = System.currentTimeMillis();
            Programs.run(folder, command);
            return queue.history(id).stream().filter(e -> e.event().equals("claimed")).findFirst().orElseThrow().at() - start;
        }
    }
}
