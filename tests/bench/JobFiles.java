package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Job files that do nothing, which is what slothq itself costs. */
final class JobFiles {

    static final String HOSTED = "hosted.java";
    static final String MAIN = "main.java";

    private JobFiles() {
    }

    static void write(Path folder) throws IOException {
        Path jobs = Files.createDirectories(folder.resolve("jobs"));
        Files.writeString(jobs.resolve(HOSTED), """
            //DEPS ../.slothq/sloth.jar
            //JOB run=added
            import sloth.Job;
            import sloth.JobContext;

            public class hosted implements Job {
                public Object run(JobContext job) {
                    return null;
                }
            }
            """);
        Files.writeString(jobs.resolve(MAIN), """
            //JOB run=added
            public class main {
                public static void main(String[] args) {
                }
            }
            """);
    }
}
