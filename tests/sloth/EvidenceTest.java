package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** No clock decides that a worker is dead: a sentence for each row of the table in {@link Evidence}. */
@DisplayName("A claim of a worker")
class EvidenceTest extends QueueFixture {

    private static final Duration LEASE = ofSeconds(60);
    private static final Optional<String> STANDS = Optional.empty();

    private WorkerLocks locks;
    private Evidence evidence;

    @BeforeEach void look() {
        locks = new WorkerLocks(folder.locks());
        evidence = new Evidence(locks, clock::nanos);
    }

    private Evidence.Claim claimUntil(long until) {
        return new Evidence.Claim(1, "w1", "token", until, LEASE);
    }

    private Evidence.Claim fresh() {
        return claimUntil(clock.millis() + 1);
    }

    private static Optional<Roster.WorkerRecord> at(Host host) {
        return Optional.of(new Roster.WorkerRecord("w1", host, 1, 1L));
    }

    private Optional<String> against(Evidence.Claim claim) {
        return evidence.against(claim, at(Host.here()), clock.millis());
    }

    // ---- lock free

    @Test void whose_lock_is_free_is_over_at_once_however_long_its_lease_runs() {
        assertEquals(Optional.of("worker died"), against(claimUntil(clock.millis() + ofHours(99).toMillis())));
        locks.take("w1").close();
        assertEquals(Optional.of("worker died"), against(fresh()), "it has had one");
    }

    @Test void whose_worker_dies_goes_out_again_without_waiting_for_the_lease() {
        long id = queue.add(job("a.sh")).id();
        queue.enter("w1", 1);
        try (WorkerLocks.Held lock = locks.take("w1")) {
            claim("w1");
            reclaim("w2");
            assertEquals(State.CLAIMED, state(id), "it is alive");
            assertFalse(queue.isDead("w1"));
        }
        assertTrue(queue.isDead("w1"));
        reclaim("w2");
        assertEquals("worker died", last(id).detail().get("reason"));
        assertEquals(2, claim("w2").attempt());
    }

    // ---- lock held, lease fresh

    @Test void whose_lock_is_held_and_whose_lease_is_fresh_is_left_alone() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            assertEquals(STANDS, against(fresh()));
            clock.pass(ofHours(9));
            assertEquals(STANDS, against(fresh()));
        }
    }

    // ---- lock held, lease over

    @Test void whose_lock_is_held_is_over_once_it_stayed_unrenewed_for_one_more_lease() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            Evidence.Claim overdue = claimUntil(clock.millis());
            assertEquals(STANDS, against(overdue), "seen for the first time");
            clock.pass(ofMillis(59_999));
            assertEquals(STANDS, against(overdue), "a millisecond is missing");
            clock.pass(ofMillis(1));
            assertEquals(Optional.of("worker hung: no heartbeat for 2m"), against(overdue));
        }
    }

    @Test void whose_lock_is_held_is_measured_from_when_it_was_first_seen_overdue() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            Evidence.Claim overdue = claimUntil(clock.millis() - ofHours(8).toMillis());
            assertEquals(STANDS, against(overdue), "we may both have slept");
            clock.pass(ofSeconds(59));
            assertEquals(STANDS, against(overdue));
        }
    }

    @Test void whose_lock_is_held_is_measured_in_the_observers_awake_time() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            Evidence.Claim overdue = claimUntil(clock.millis());
            against(overdue);
            clock.sleep(ofHours(8));
            assertEquals(STANDS, against(overdue), "the machine slept, and it with us");
            clock.step(ofHours(8));
            assertEquals(STANDS, against(overdue), "the wall clock says nothing");
            clock.pass(ofSeconds(60));
            assertTrue(against(overdue).orElseThrow().startsWith("worker hung"));
        }
    }

    @Test void whose_lock_is_held_begins_anew_with_each_heartbeat() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            against(claimUntil(clock.millis()));
            clock.pass(ofSeconds(59));
            assertEquals(STANDS, against(claimUntil(clock.millis() + 60_000)), "it has renewed");
            clock.pass(ofSeconds(60));
            Evidence.Claim again = claimUntil(clock.millis());
            assertEquals(STANDS, against(again));
            clock.pass(ofSeconds(59));
            assertEquals(STANDS, against(again), "59 s and 59 s are not 60");
        }
    }

    @Test void whose_lock_is_held_begins_anew_when_it_was_renewed_between_two_looks() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            long until = clock.millis();
            against(claimUntil(until));
            clock.pass(ofSeconds(300));
            assertEquals(STANDS, against(claimUntil(until + 120_000)), "another end of the lease: it was alive in between");
        }
    }

    @Test void is_not_taken_for_another_of_the_same_worker() {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            against(claimUntil(clock.millis()));
            clock.pass(ofSeconds(60));
            Evidence.Claim other = new Evidence.Claim(2, "w1", "another token", clock.millis() - 60_000, LEASE);
            assertEquals(STANDS, against(other), "this one is seen for the first time");
        }
    }

    @Test void of_a_hung_worker_goes_out_again_only_then() {
        long id = queue.add(job("a.sh")).id();
        queue.enter("w1", 1);
        try (WorkerLocks.Held lock = locks.take("w1")) {
            Lease hung = claim("w1");
            clock.pass(ofSeconds(60));
            reclaim("w2");
            clock.pass(ofMillis(59_999));
            reclaim("w2");
            assertEquals(State.CLAIMED, state(id));
            clock.pass(ofMillis(1));
            reclaim("w2");
            assertEquals("worker hung: no heartbeat for 2m", last(id).detail().get("reason"));
            assertFalse(queue.heartbeat(hung), "when it wakes it is told so");
        }
    }

    // ---- no lock to ask

    @Test void of_another_host_is_judged_by_its_lease_alone() {
        Host elsewhere = new Host("elsewhere", "another-boot");
        Evidence.Claim claim = claimUntil(clock.millis() + 60_000);
        assertEquals(STANDS, evidence.against(claim, at(elsewhere), clock.millis()), "its lock is not here to be free");
        assertEquals(STANDS, evidence.against(claim, at(elsewhere), clock.millis() + 59_999));
        assertEquals(Optional.of("lease over"), evidence.against(claim, at(elsewhere), clock.millis() + 60_000));
        assertFalse(evidence.isDead(at(elsewhere).orElseThrow()));
    }

    @Test void of_this_host_under_another_name_is_asked_for_its_lock() {
        if (Host.here().boot() != null) {
            Host renamed = new Host("cafe-wifi-17", Host.here().boot());
            assertEquals(Optional.of("worker died"), evidence.against(fresh(), at(renamed), clock.millis()));
        }
        Host rebooted = new Host(Host.here().name(), "last week's boot");
        assertEquals(Optional.of("worker died"), evidence.against(fresh(), at(rebooted), clock.millis()));
    }

    @Test void through_the_bare_library_is_judged_by_its_lease_alone() {
        Evidence.Claim claim = claimUntil(clock.millis() + 60_000);
        assertEquals(STANDS, evidence.against(claim, Optional.empty(), clock.millis() + 59_999));
        assertEquals(Optional.of("lease over"), evidence.against(claim, Optional.empty(), clock.millis() + 60_000));
    }

    // ---- the locks

    /** Another process: what is true there does not show in this one, which holds the lock. */
    static final class Asker {
        public static void main(String... args) {
            System.out.print(new WorkerLocks(Path.of(args[0])).isFree(args[1]) ? "free" : "held");
        }
    }

    private String asSeenFromOutside(String worker) throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        Process asker = new ProcessBuilder(java, "-Xshare:auto", "-XX:TieredStopAtLevel=1",
            "-cp", System.getProperty("java.class.path"), Asker.class.getName(), folder.locks().toString(), worker)
            .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        return new String(asker.getInputStream().readAllBytes());
    }

    @Test void keeps_its_lock_though_it_is_asked_for() throws IOException {
        try (WorkerLocks.Held lock = locks.take("w1")) {
            assertFalse(locks.isFree("w1"));
            assertFalse(new WorkerLocks(folder.locks()).isFree("w1"), "by another observer in this JVM");
            assertThrows(IllegalStateException.class, () -> locks.take("w1"));
            assertEquals("held", asSeenFromOutside("w1"), "to open and close the file would have freed it");
        }
        assertTrue(locks.isFree("w1"));
        assertFalse(Files.exists(folder.locks().resolve("w1.lock")), "and nothing is left behind");
    }

    @Test void has_a_lock_that_its_next_worker_can_take() throws IOException {
        locks.take("w1").close();
        try (WorkerLocks.Held lock = locks.take("w1")) {
            assertEquals("held", asSeenFromOutside("w1"));
        }
        assertEquals("free", asSeenFromOutside("w1"));
    }

    @Test void is_cleared_away_only_when_nothing_is_left_of_it() {
        queue.add(job("a.sh"));
        queue.enter("w1", 1);
        claim("w1");
        queue.leave("w1");
        assertEquals(List.of("w1"), queue.workers().stream().map(Roster.WorkerRecord::id).toList(),
            "it would be taken for one without a lock");
        reclaim("w2");
        queue.leave("w1");
        assertEquals(List.of(), queue.workers());
    }
}
