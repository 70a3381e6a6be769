package sloth;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import javax.lang.model.SourceVersion;

/** New job files. Each runs as it is, and shows where the options and the work go. */
public enum Template {
    JAVA(".java", """
        ///usr/bin/env jbang "$0" "$@" ; exit $?
        //JOB attempts=4 backoff=2s..1h
        // A library: //DEPS group:artifact:version

        class NAME {
            public static void main(String... args) {
                // Exit 0: done. 75: not now, try later. 65: give up. Anything else, or an exception: tried again.
                System.out.println("hello from NAME");   // the last line is the job's message
            }
        }
        """),
    HOSTED(".java", """
        ///usr/bin/env jbang "$0" "$@" ; exit $?
        //JOB run=added key=args
        //DEPS ../.slothq/sloth.jar

        import sloth.Job;
        import sloth.JobContext;

        /** For many arguments: 'slothq add NAME --each FILE' makes a job of each line, all run in one warm JVM. */
        public class NAME implements Job {

            @Override public Object run(JobContext job) throws Exception {
                // A step's result is kept: a later attempt does not do its work again.
                int length = job.step("measure", Integer.class, () -> String.join(" ", job.args()).length());
                job.progress(1, 1, "measured");
                return "length " + length;   // the job's message
            }

            public static void main(String... args) throws Exception {
                Job.alone(new NAME(), args);
            }
        }
        """),
    SH(".sh", """
        #!/bin/sh
        #JOB attempts=4 timeout=10m
        # Exit 0: done. 75: not now, try later. 65: give up. Anything else: tried again.
        set -eu

        echo "hello from NAME"   # the last line is the job's message
        """),
    JSH(".jsh", """
        //JOB attempts=4
        // Java without a class around it. An exception fails the job, with file and line.

        println("hello from NAME");   // the last line is the job's message
        """);

    /** Words that are no keywords, and yet name no class. */
    private static final Set<String> RESTRICTED = Set.of("var", "record", "yield", "sealed", "permits");
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_-]*");

    private final String ending;
    private final String text;

    Template(String ending, String text) {
        this.ending = ending;
        this.text = text;
    }

    /** By the ending; Java without one. */
    public static Template ofName(String name) {
        String low = name.toLowerCase(Locale.ROOT);
        return low.endsWith(SH.ending) ? SH : low.endsWith(JSH.ending) ? JSH : JAVA;
    }

    private static boolean isClassName(String name) {
        try {
            Class.forName("java.lang." + name, false, null);
            return false;
        } catch (ClassNotFoundException | LinkageError e) {
            return !SourceVersion.isKeyword(name) && !RESTRICTED.contains(name);
        }
    }

    /** Writes a new file into {@code jobs/}. @throws SlothException when it is there, or the name does not do */
    public Path write(QueueFolder folder, String name) throws IOException {
        String stem = name.toLowerCase(Locale.ROOT).endsWith(ending) ? name.substring(0, name.length() - ending.length()) : name;
        if (stem.indexOf('.') > 0) {
            throw SlothException.refused("there is no template for '" + name + "'; there are .java, .sh and .jsh");
        }
        if (this != SH && this != JSH && !isClassName(stem.replace('-', '_'))) {
            throw SlothException.refused("'" + name + "' is a word of Java's own, and no name for a class; take another");
        }
        if (!NAME.matcher(stem).matches()) {
            throw SlothException.refused("'" + name + "' is no good name for " + (ending.equals(SH.ending) ? "a script" : "a class")
                + ": use letters, digits, - and _, a letter first");
        }
        Path file = folder.makeJobs().resolve(stem + ending);
        try {
            Files.writeString(file, text.replace("NAME", stem.replace('-', '_')), StandardOpenOption.CREATE_NEW);
        } catch (FileAlreadyExistsException e) {
            throw SlothException.refused(file + " is there already; name another");
        } catch (IOException e) {
            throw Trouble.of(file, e);
        }
        if (this == SH) {
            file.toFile().setExecutable(true, false);
        }
        if (this == HOSTED) {
            folder.prepare();
            JobJar.write(folder);
        }
        return file;
    }
}
