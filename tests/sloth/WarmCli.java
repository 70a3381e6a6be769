package sloth;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The program in a JVM that stays: a command takes 20 ms instead of half a second. What it writes goes through the real
 * file descriptors into the pipes of that JVM, so nothing is captured that a user would not see. For commands that
 * need no process, working folder or stdin of their own.
 */
final class WarmCli {

    private static WarmCli one;

    private final Cli.Live jvm;
    private final String nonce;
    private final Writer commands;

    private WarmCli(Cli.Live jvm, String nonce) {
        this.jvm = jvm;
        this.nonce = nonce;
        this.commands = jvm.process().outputWriter(StandardCharsets.UTF_8);
    }

    /** The JVM ends with this one: its stdin closes then. */
    static synchronized Cli.Said run(Path folder, String... args) {
        try {
            if (one == null || !one.jvm.process().isAlive()) {
                String nonce = UUID.randomUUID().toString();
                one = new WarmCli(Cli.java(Path.of(System.getProperty("java.io.tmpdir")), List.of(WarmCli.class.getName(), nonce)), nonce);
            }
            return one.command(folder, args);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private Cli.Said command(Path folder, String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of("-C", folder.toString()));
        all.addAll(List.of(args));
        commands.write(new Gson().toJson(all) + "\n");
        commands.flush();
        try {
            Cli.until("'" + String.join(" ", args) + "' ends", () -> jvm.out().endsWith(nonce + "\n") && jvm.err().endsWith(nonce + "\n")
                || !jvm.process().isAlive());
        } catch (AssertionError e) {
            jvm.process().destroyForcibly();
            throw e;
        }
        return cut();
    }

    /** Behind what the command wrote stand its exit code and the nonce, on both streams. */
    private Cli.Said cut() {
        byte[] out = jvm.takeOut();
        String err = Cli.withoutJvmNotes(new String(jvm.takeErr(), StandardCharsets.UTF_8));
        int tail = nonce.length() + 5;
        if (err.length() < tail || !err.endsWith(nonce + "\n")) {
            throw new AssertionError("the program ended its JVM: " + err);
        }
        int code = Integer.parseInt(err.substring(err.length() - tail, err.length() - tail + 3));
        return new Cli.Said(code, java.util.Arrays.copyOf(out, out.length - tail), err.substring(0, err.length() - tail));
    }

    /** The other side: a command line in JSON on each line of stdin. */
    public static void main(String[] args) throws Exception {
        Method run = Class.forName("slothq").getDeclaredMethod("run", String[].class);
        run.setAccessible(true);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        OutputStream err = new FileOutputStream(FileDescriptor.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int code = code(run, new Gson().fromJson(line, String[].class));
            byte[] end = String.format("%03d:%s\n", code, args[0]).getBytes(StandardCharsets.US_ASCII);
            out.write(end);
            err.write(end);
        }
    }

    private static int code(Method run, String[] command) throws IllegalAccessException {
        try {
            return (int) run.invoke(null, (Object) command);
        } catch (InvocationTargetException e) {
            e.getCause().printStackTrace();
            return 999;
        }
    }
}
