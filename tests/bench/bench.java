///usr/bin/env jbang "$0" "$@" ; exit $?
//JAVA 17+
//DEPS com.github.kagkarlsson:db-scheduler:16.12.0
//RUNTIME_OPTIONS --enable-native-access=ALL-UNNAMED
//SOURCES ../../slothq.java
//SOURCES BareTransactions.java
//SOURCES Bench.java
//SOURCES Connections.java
//SOURCES Contest.java
//SOURCES CyclesBench.java
//SOURCES DbSchedulerBench.java
//SOURCES EachBench.java
//SOURCES Figures.java
//SOURCES JobFiles.java
//SOURCES MemoryBench.java
//SOURCES Programs.java
//SOURCES Series.java
//SOURCES Silent.java
//SOURCES StartBench.java
//SOURCES WorkerBench.java
package sloth;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What slothq costs, beside what it is made of: {@code ./jbang tests/bench/bench.java [cycles dbscheduler each worker
 * start memory] [--quick]}, from the project's folder. Ratios are of things that were measured in turns, round by round;
 * each figure is a median with its smallest and largest. Exit 1 when a goal is missed.
 */
public class bench {

    public static void main(String... args) throws Exception {
        Map<String, Bench> all = new LinkedHashMap<>();
        all.put("cycles", new CyclesBench());
        all.put("dbscheduler", new DbSchedulerBench());
        all.put("each", new EachBench());
        all.put("worker", new WorkerBench());
        all.put("start", new StartBench());
        all.put("memory", new MemoryBench());
        List<String> names = new ArrayList<>(List.of(args));
        boolean quick = names.remove("--quick");
        if (!all.keySet().containsAll(names)) {
            System.err.println("bench: there are " + String.join(", ", all.keySet()) + " and --quick");
            System.exit(2);
        }
        Path folder = Files.createTempDirectory("slothq-bench").toRealPath();
        Figures figures = new Figures(System.out);
        try {
            figures.head(quick);
            for (String name : names.isEmpty() ? all.keySet() : names) {
                figures.part(name);
                all.get(name).run(Files.createDirectory(folder.resolve(name)), quick, figures);
            }
        } finally {
            QueueFolder.deleteTree(folder);
        }
        System.exit(figures.foot() ? 0 : 1);
    }
}
