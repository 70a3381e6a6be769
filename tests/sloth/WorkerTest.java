package sloth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The worker's loop in this process, its clock in our hand: what comes between a claim and the start of its job. */
@DisplayName("A worker")
@EnabledOnOs(value = {OS.LINUX, OS.MAC}, disabledReason = "its jobs are shell commands")
class WorkerTest extends QueueFixture {

    /** Says what happens between the claim and the start of the job, and while the worker says something. */
    private record Meanwhile(Runnable what, Runnable saying) implements Worker.Report {

        @Override public void started(Lease lease) {
            what.run();
        }

        @Override public void ended(JobRecord job, Outcome outcome, Duration took) {
        }

        @Override public void takenBack(JobRecord job) {
        }

        @Override public void refused(String problem) {
        }

        @Override public void waiting(long next) {
        }

        @Override public void say(String line) {
            saying.run();
        }

        @Override public void load(LongSupplier due) {
        }
    }

    private void run(Runnable meanwhile) {
        run(meanwhile, () -> { });
    }

    private void run(Runnable meanwhile, Runnable saying) {
        Worker.Settings once = new Worker.Settings(List.of(), 1, Duration.ZERO, false, null);
        try (Worker worker = new Worker(folder, clock, once, new Meanwhile(meanwhile, saying))) {
            worker.run();
        }
    }

    private long touching(String file) {
        return queue.add(NewJob.command("touch", root.resolve(file).toString())).id();
    }

    @Test void begins_the_job_whose_lease_it_holds() {
        long id = touching("begun");
        run(() -> assertFalse(Files.exists(root.resolve("begun")), "not begun yet"));
        assertTrue(Files.exists(root.resolve("begun")));
        assertEquals(List.of("added", "claimed", "done"), story(id));
    }

    @Test void does_not_hand_a_job_what_another_one_of_its_number_left() throws IOException {
        // A backup was brought back: numbers that came after it are given again.
        long id = queue.add(NewJob.command("sh", "-c", "test ! -e \"$SLOTHQ_STATE/notes\"")).id();
        Files.writeString(Files.createDirectories(folder.state(id)).resolve("notes"), "somebody else's");
        run(() -> { });
        assertEquals(State.DONE, state(id));
    }

    @Test void keeps_its_lease_while_its_screen_stands_still() throws IOException {
        Path goOn = root.resolve("go-on");
        long id = queue.add(NewJob.command("sh", "-c", "until [ -e \"$0\" ]; do sleep 0.05; done", goOn.toString())).id();
        run(() -> clock.pass(ofSeconds(30)), () -> {
            if (Files.exists(goOn)) {
                return;
            }
            // It tells that time went by. Until this returns nothing more is said, and the lease goes on.
            clock.pass(ofSeconds(50));
            Cli.until("its lease goes on", () -> row(id).leaseUntil() == null || row(id).leaseUntil() >= clock.millis() + 60_000);
            assertEquals(State.CLAIMED, state(id));
            touch(goOn);
        });
        assertEquals(State.DONE, state(id));
    }

    private static void touch(Path file) {
        try {
            Files.writeString(file, "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test void that_was_frozen_since_its_claim_does_not_begin_a_job_that_another_one_has_run() {
        long id = touching("begun");
        run(() -> {
            // Its pulse may come in between, and renew the lease once more.
            while (reclaim("another").isEmpty()) {
                clock.pass(ofSeconds(60));
            }
            queue.strays().forEach(queue::gone);
            queue.complete(claim("another"), "by another");
        });
        assertFalse(Files.exists(root.resolve("begun")), "the job ran again though it was done");
        assertEquals("by another", row(id).message());
        assertEquals(List.of("added", "claimed", "reclaimed", "claimed", "done", "lease-lost"),
            story(id).stream().filter(e -> !e.equals("slept")).toList());
    }

    @Test void that_was_asked_for_a_cancelled_job_does_not_begin_it() {
        long id = touching("begun");
        run(() -> queue.cancel(id));
        assertFalse(Files.exists(root.resolve("begun")));
        assertEquals(List.of("added", "claimed", "cancelled"), story(id));
        assertEquals(List.of(), queue.processesOf(id));
    }
}
