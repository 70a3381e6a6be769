package sloth;

import java.nio.file.Path;

/** One part of the benchmark. */
interface Bench {

    /** @param folder empty, and its own; @param quick small sizes: a try, not a figure to keep */
    void run(Path folder, boolean quick, Figures figures) throws Exception;
}
