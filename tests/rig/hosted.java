//JOB run=added
//DEPS ../.slothq/sloth.jar

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import sloth.Job;
import sloth.JobContext;

/** As witness.sh, for a guest in a warm JVM: its pid is that JVM's, and outlives the attempt; so it looks for no others. */
public class hosted implements Job {

    @Override public Object run(JobContext job) throws Exception {
        int exit = Integer.parseInt(job.args().get(0));
        tell("start", job, Files.readString(Path.of("/proc/self/stat")).replaceAll("^.*\\) ", "").split(" ")[19]);
        for (int beats = Integer.parseInt(job.args().get(1)); beats > 0; beats--) {
            Thread.sleep(100);
            tell("beat", job, "");
        }
        tell("end", job, "");
        if (exit != 0) {
            throw new IllegalStateException("exit " + exit);
        }
        return null;
    }

    private static void tell(String word, JobContext job, String more) throws IOException {
        String line = word + " " + job.id() + "." + job.attempt() + " " + ProcessHandle.current().pid() + " " + more;
        Files.writeString(Path.of("trace"), line.strip() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
}
