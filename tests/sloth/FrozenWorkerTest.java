package sloth;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A worker that hangs while another one watches: it lost its job, and must learn so when it wakes. */
@DisplayName("A frozen worker")
@Execution(ExecutionMode.CONCURRENT)
@EnabledOnOs(value = OS.LINUX, disabledReason = "the witnesses look into /proc")
class FrozenWorkerTest {

    @RegisterExtension final Cli cli = new Cli();
    private Witness witness;
    private Cli.Live slow;
    private Cli.Live next;

    /** The first attempt would outlast all of this; the second one is still at it when the first worker wakes. */
    private void start(String lease) throws Exception {
        witness = Witness.in(cli.folder()).job("long.sh", "lease=" + lease);
        cli.slothq("add", "long", "0", "600", "30").exits(0);
        slow = cli.start("run", "--watch");
        witness.until("beat", 1, 3);
        next = cli.start("run", "--watch");
        Cli.until("both workers are there", () -> cli.slothq("status", "--json").out().split("\"alive\":true", -1).length == 3);
    }

    @Test void loses_its_job_whose_processes_run_on() throws Exception {
        start("1s");
        slow.freeze();
        itsJobGoesOnElsewhere();
    }

    @Test void loses_its_job_that_is_frozen_with_it() throws Exception {
        start("1s");
        long job = witness.pids(1).get(0);
        slow.freeze();
        Rig.run("sh", "-c", "kill -s STOP -- -" + job).exits(0);
        itsJobGoesOnElsewhere();
    }

    @Test void keeps_its_job_when_it_wakes_within_one_more_lease() throws Exception {
        start("5s");
        slow.freeze();
        long over = cli.job(1).leaseUntil();
        Cli.until("its lease is over, and the other worker has had a look", () -> over + 1_500 < System.currentTimeMillis());
        slow.signal("CONT");
        Cli.until("it wakes", () -> cli.events(1).contains("slept") || cli.events(1).contains("lease-lost"));
        assertEquals("added claimed slept", cli.events(1));
        cli.slothq("cancel", "1").exits(0);
        witness.assertNeverTwoAlive();
        witness.assertNobodyLeft();
    }

    private void itsJobGoesOnElsewhere() {
        witness.until("beat", 1, 1).until("start", 1, 2);
        assertEquals("added claimed reclaimed claimed", cli.events(1));
        assertTrue(String.valueOf(cli.details(1, "reason")).contains("worker hung"), String.valueOf(cli.details(1, "reason")));
        slow.signal("CONT");
        cli.untilJob(1, State.DONE);
        Cli.until("the first worker learns that its lease is lost", () -> cli.events(1).contains("lease-lost"));
        goesOnWithOtherWork();
        List<String> events = cli.history(1).stream().map(Event::event).toList();
        assertEquals(1, count(events, "done"), String.valueOf(events));
        assertEquals(1, count(events, "lease-lost"), String.valueOf(events));
        assertEquals(2, count(events, "claimed"), String.valueOf(events));
        assertEquals(2, cli.job(1).attempts());
        witness.assertNeverTwoAlive();
        witness.assertNobodyLeft();
        assertEquals(1, witness.count("end", 1), "only one attempt came to its end");
    }

    private void goesOnWithOtherWork() {
        String its = worker(1);
        next.signal("TERM").ends().exits(143);
        cli.slothq("add", "witness", "0", "1").exits(0);
        cli.untilJob(2, State.DONE);
        assertEquals(its, worker(2));
        assertTrue(slow.err().contains("went on") || slow.out().contains("lost"), slow.out() + slow.err());
    }

    /** Who claimed it first. */
    private String worker(long id) {
        return cli.history(id).stream().filter(e -> e.event().equals("claimed")).findFirst().orElseThrow().worker();
    }

    private static long count(List<String> events, String event) {
        return events.stream().filter(event::equals).count();
    }
}
