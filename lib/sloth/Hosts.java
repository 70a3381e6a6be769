package sloth;

import com.google.gson.Gson;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/** The warm JVMs of hosted jobs: one for each job file and lane, kept for the next job of that file. */
final class Hosts implements AutoCloseable {

    static final Duration IDLE_MOST = Duration.ofMinutes(1);

    /** What a guest may ask of the queue. A refusal is a {@link SlothException}. */
    interface Services {
        Optional<String> step(String name);

        /** @return false when the lease is lost */
        boolean keepStep(String name, String json);

        long add(String job, List<String> args);
    }

    private final QueueFolder folder;
    private final LongSupplier awakeNanos;
    private final List<HostedJvm> idle = new ArrayList<>();

    Hosts(QueueFolder folder, LongSupplier awakeNanos) {
        this.folder = folder;
        this.awakeNanos = awakeNanos;
    }

    Execution guest(Program program, Lease lease, Map<String, String> environment, String mark, Output output, Services services)
        throws IOException {
        List<String> command = program.command(List.of(Launcher.ourClasses()), JobHost.class.getName(), List.of());
        HostedJvm jvm = takeIdle(command).orElse(null);
        if (jvm == null) {
            jvm = HostedJvm.start(command, program.jobClass(), gsonJar(), folder.root(), environment, mark, output);
        }
        return jvm.guest(lease, folder.state(lease.id()), output, services, this::giveBack);
    }

    private synchronized Optional<HostedJvm> takeIdle(List<String> command) {
        for (Iterator<HostedJvm> all = idle.iterator(); all.hasNext(); ) {
            HostedJvm jvm = all.next();
            if (jvm.command().equals(command)) {
                all.remove();
                if (jvm.isAlive()) {
                    return Optional.of(jvm);
                }
            }
        }
        return Optional.empty();
    }

    private synchronized void giveBack(HostedJvm jvm) {
        jvm.idleSince(awakeNanos.getAsLong());
        idle.add(jvm);
    }

    /** Ends those that nobody needed for a while. */
    void closeIdle() {
        closeThose(jvm -> awakeNanos.getAsLong() - jvm.idleSince() > IDLE_MOST.toNanos());
    }

    @Override public void close() {
        closeThose(jvm -> true);
    }

    private void closeThose(Predicate<HostedJvm> which) {
        List<HostedJvm> gone;
        synchronized (this) {
            gone = idle.stream().filter(which).toList();
            idle.removeAll(gone);
        }
        gone.forEach(HostedJvm::close);
    }

    private static Path gsonJar() {
        try {
            return Path.of(Gson.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
