package sloth;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A job file, ready to start: an argument vector, so nothing is quoted for a shell, and an empty argument stays one.
 *
 * @param options   what the file asks of its JVM ({@code //RUNTIME_OPTIONS} and the like); nothing of ours
 * @param classPath the built jar first, then the dependencies; for a JShell file the dependencies alone
 * @param mainClass null when there is none: a hosted job without one, or a JShell file
 * @param jobClass  the class of the file that implements {@link Job}, or null
 * @param scripts   what JShell is to load, in this order; empty when a class is run
 * @param inputs    files and folders it was made from: while none of them changes, neither does the program
 */
record Program(Path java, List<String> options, List<Path> classPath, String mainClass, String jobClass,
               List<Path> scripts, List<Path> inputs) {

    Program {
        options = List.copyOf(options);
        classPath = List.copyOf(classPath);
        scripts = List.copyOf(scripts);
        inputs = List.copyOf(inputs);
    }

    List<String> command(List<String> args) {
        return command(List.of(), mainClass, args);
    }

    /** The same JVM under another main class, {@code ours} first on its class path: how a host or a JShell runner starts. */
    List<String> command(List<Path> ours, String main, List<String> args) {
        var command = new ArrayList<String>();
        command.add(java.toString());
        command.addAll(options);
        command.add("-cp");
        command.add(Stream.concat(ours.stream(), classPath.stream()).map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator)));
        command.add(main);
        command.addAll(args);
        return command;
    }
}
