package sloth;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the job files that want to run and adds their jobs, in the order of their names. A file that changed runs again,
 * a finished one does not, a failed one waits for a retry or an edit.
 */
final class Discovery {

    /** @param added names, in order; @param refused a line for each file that cannot run */
    record Found(List<String> added, List<String> refused) {
    }

    private final SlothQueue queue;

    Discovery(SlothQueue queue) {
        this.queue = queue;
    }

    /** @param start whether this is the start of a run, when {@code run=always} files are due again */
    Found discover(boolean start) {
        List<String> refused = new ArrayList<>();
        Map<JobFile, String> digests = new LinkedHashMap<>();
        for (JobFile file : JobFile.all(queue.folder())) {
            if (file.isDiscovered()) {
                digest(file, refused).ifPresent(d -> digests.put(file, d));
            }
        }
        // Looked at and added in one transaction: of two runs that start together, one adds.
        List<String> added = queue.together(() -> {
            Set<String> living = queue.overview().livingFiles();
            return digests.entrySet().stream()
                .filter(e -> wants(e.getKey(), e.getValue(), start) && !living.contains(e.getKey().name()))
                .map(e -> queue.add(e.getKey().toAdd().discovered(e.getValue())).job()).toList();
        });
        return new Found(added, refused);
    }

    private boolean wants(JobFile file, String digest, boolean start) {
        return switch (file.options().run()) {
            case ADDED -> false;
            case ALWAYS -> start;
            case ONCE -> !queue.overview().lastContent(file.name()).equals(Optional.of(digest));
        };
    }

    /** For a file asked for by name: changed or not, it gets a job, unless one is pending or claimed. */
    Found require(List<JobFile> files) {
        List<String> refused = new ArrayList<>();
        Map<JobFile, String> digests = new LinkedHashMap<>();
        files.forEach(f -> digest(f, refused).ifPresent(d -> digests.put(f, d)));
        List<String> added = queue.together(() -> {
            Set<String> living = queue.overview().livingFiles();
            return digests.entrySet().stream().filter(e -> !living.contains(e.getKey().name()))
                .map(e -> queue.add(e.getKey().toAdd().discovered(e.getValue())).job()).toList();
        });
        return new Found(added, refused);
    }

    private static Optional<String> digest(JobFile file, List<String> refused) {
        if (file.problem() != null) {
            refused.add(file.problem());
            return Optional.empty();
        }
        try {
            return Optional.of(file.digest());
        } catch (IOException e) {
            refused.add(file.place() + ": cannot be read; check who may read it");
            return Optional.empty();
        }
    }
}
