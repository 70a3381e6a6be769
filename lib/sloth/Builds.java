package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Remembers programs while nothing that went into them has moved: even an up-to-date build takes JBang 5 to 25 ms, and a
 * hosted job may take one.
 */
final class Builds {

    private record Kept(Program program, List<String> stamps) {
    }

    private final JBangBuild build;
    private final Map<Path, Kept> kept = new ConcurrentHashMap<>();

    Builds(JBangBuild build) {
        this.build = build;
    }

    Program of(Path file) throws BuildTrouble.Failed, BuildTrouble.NotNow, InterruptedException, IOException {
        Kept before = kept.get(file);
        if (before != null && before.stamps.equals(stamps(before.program))) {
            return before.program;
        }
        String stamp = stamp(file);
        Program program = build.build(file);
        if (stamp.equals(stamp(file))) {
            kept.put(file, new Kept(program, stamps(program)));
        }
        return program;
    }

    private static List<String> stamps(Program program) {
        return program.inputs().stream().map(Builds::stamp).toList();
    }

    private static String stamp(Path file) {
        try {
            BasicFileAttributes a = Files.readAttributes(file, BasicFileAttributes.class);
            return a.lastModifiedTime() + " " + a.size() + " " + a.fileKey();
        } catch (IOException e) {
            return "gone";
        }
    }
}
