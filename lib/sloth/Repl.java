package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import jdk.jshell.tool.JavaShellToolBuilder;

/** JShell with the library on its class path and {@code q}, the folder's queue. */
public final class Repl {

    private static final String STARTUP = """
        import sloth.*;
        import java.time.Duration;
        var q = SlothQueue.open(Path.of(%s));
        System.out.println("q is the queue in " + q.folder().root() + "; try q.list(), q.add(\\"hello\\"), q.counts(). /exit ends.");
        """;

    private Repl() {
    }

    /** @param more arguments for JShell itself. @return its exit code */
    public static int run(QueueFolder folder, List<String> more) throws Exception {
        if (ToolProvider.getSystemJavaCompiler() == null) {
            throw SlothException.refused("the REPL needs a JDK: this Java has no compiler");
        }
        SlothQueue.open(folder.root()).close(); // what is wrong with it is said here, in one line
        Path startup = folder.prepare().cache().resolve("repl.jsh");
        try {
            Files.writeString(startup, STARTUP.formatted(Json.text(folder.root().toString())));
        } catch (IOException e) {
            throw Trouble.of(startup, e);
        }
        List<String> args = new ArrayList<>(List.of("--class-path", System.getProperty("java.class.path"),
            "--startup", "DEFAULT", "--startup", startup.toString(), "-R--enable-native-access=ALL-UNNAMED"));
        args.addAll(more);
        return JavaShellToolBuilder.builder().start(args.toArray(String[]::new));
    }
}
