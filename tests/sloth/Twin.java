package sloth;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a queue should do, in plain memory: a list of rows, no SQL and no file. It follows the words of the design, not
 * the statements of {@link SlothQueue}, and is what that is compared with.
 */
final class Twin {

    /** One job. A claim is told from all others by being the same object, as a token is. */
    static final class Row {
        final long id;
        final NewJob asked;
        final Long batch;
        State state = State.PENDING;
        int attempts;
        int claims;
        int notNows;
        boolean due;
        long notBefore;
        Long delay;
        Grant grant;
        long leaseUntil;
        String message;
        Long finished;
        final Map<String, String> steps = new TreeMap<>();
        final Set<Integer> processes = new TreeSet<>();

        Row(long id, NewJob asked, Long batch) {
            this.id = id;
            this.asked = asked;
            this.batch = batch;
        }

        long lease() {
            return asked.options().lease().toMillis();
        }

        int most() {
            return asked.options().attempts();
        }

        private void waitFor(long now, long wait) {
            pending();
            due = false;
            delay = wait;
            notBefore = now + wait;
        }

        private void dueAtOnce() {
            pending();
            due = true;
            delay = null;
        }

        private void pending() {
            state = State.PENDING;
            grant = null;
        }

        private void end(State how, long now) {
            state = how;
            grant = null;
            finished = now;
        }
    }

    record Grant(Row row, String worker, int claim, int attempt) {
        @Override public boolean equals(Object other) {
            return this == other;
        }

        @Override public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    private record Sighting(long until, long awake) {
    }

    final List<Row> rows = new ArrayList<>();
    private final TestClock clock;
    private final Set<String> workers = new HashSet<>();
    private final Set<String> dead = new HashSet<>();
    private final Map<Grant, Sighting> overdue = new HashMap<>();
    private long highest;
    private long batches;
    private long newest;

    Twin(TestClock clock) {
        this.clock = clock;
    }

    // ---- the life of a job

    /** @param ids the numbers that the queue gave: which ones is its own affair, as long as they grow */
    Row add(NewJob job, Iterator<Long> ids) {
        long now = mind();
        return holder(job.effectiveKey()).orElseGet(() -> insert(ids.next(), job, null, now));
    }

    void addAll(List<NewJob> jobs, Iterator<Long> ids) {
        long now = mind();
        batches++;
        for (NewJob job : jobs) {
            if (holder(job.effectiveKey()).isEmpty()) {
                insert(ids.next(), job, batches, now);
            }
        }
    }

    private Row insert(long id, NewJob job, Long batch, long now) {
        if (id <= highest) {
            throw new AssertionError("number " + id + " was given after " + highest);
        }
        highest = id;
        Row row = new Row(id, job, batch);
        row.delay = job.delay() == null ? null : (Long) job.delay().toMillis();
        row.notBefore = row.delay == null ? job.notBefore() : now + row.delay;
        row.due = row.notBefore <= now;
        rows.add(row);
        newest = now;
        return row;
    }

    private Optional<Row> holder(String key) {
        return rows.stream().filter(r -> key != null && key.equals(r.asked.effectiveKey()) && !r.state.ended()).findFirst();
    }

    Optional<Grant> claim(String worker) {
        long now = mind();
        takeBack(null, now);
        return next(worker, now, false);
    }

    Optional<Grant> claimToRun(String worker) {
        return next(worker, mind(), true);
    }

    private Optional<Grant> next(String worker, long now, boolean processes) {
        rows.stream().filter(r -> r.state == State.PENDING && r.notBefore <= now).forEach(r -> r.due = true);
        Optional<Row> first = rows.stream().filter(r -> r.state == State.PENDING && r.due && r.processes.isEmpty())
            .min(Comparator.comparing((Row r) -> -r.asked.options().priority()).thenComparing(r -> r.id));
        return first.map(row -> {
            row.state = State.CLAIMED;
            row.attempts++;
            row.claims++;
            row.grant = new Grant(row, worker, row.claims, row.attempts);
            row.leaseUntil = now + row.lease();
            if (processes) {
                row.processes.add(row.claims);
            }
            newest = now;
            return row.grant;
        });
    }

    boolean isHeld(Grant grant) {
        return grant.row.grant == grant;
    }

    boolean heartbeat(Grant grant) {
        long now = mind();
        if (isHeld(grant)) {
            grant.row.leaseUntil = now + grant.row.lease();
        }
        return isHeld(grant);
    }

    boolean complete(Grant grant, String message) {
        return word(grant, now -> {
            grant.row.end(State.DONE, now);
            grant.row.message = message;
        });
    }

    boolean fail(Grant grant, String message) {
        Row row = grant.row;
        if (grant.attempt >= row.most()) {
            return giveUp(grant, message);
        }
        return word(grant, now -> {
            row.waitFor(now, doubled(row.asked.options().backoff().base().toMillis(), grant.attempt - 1, row));
            row.notNows = 0;
            row.message = message;
        });
    }

    boolean giveUp(Grant grant, String message) {
        return word(grant, now -> {
            grant.row.end(State.FAILED, now);
            grant.row.notNows = 0;
            grant.row.message = message;
        });
    }

    boolean notNow(Grant grant, String message) {
        Row row = grant.row;
        return word(grant, now -> {
            row.waitFor(now, doubled(2_000, row.notNows, row));
            row.notNows++;
            row.attempts--;
            row.message = message;
        });
    }

    private static long doubled(long wait, int times, Row row) {
        double doubled = wait * Math.pow(2, times);
        return (long) Math.min(doubled, row.asked.options().backoff().cap().toMillis());
    }

    boolean release(Grant grant) {
        return word(grant, now -> {
            grant.row.dueAtOnce();
            grant.row.attempts--;
        });
    }

    private interface Change {
        void at(long now);
    }

    /** Whoever ends an attempt says at the same time that its processes are gone. */
    private boolean word(Grant grant, Change change) {
        long now = mind();
        boolean held = isHeld(grant);
        if (held) {
            change.at(now);
            newest = now;
        } else {
            noteLost(grant, now);
        }
        grant.row.processes.remove(grant.claim);
        return held;
    }

    private void noteLost(Grant grant, long now) {
        if (rows.contains(grant.row) && grant.row.state != State.CANCELLED) {
            newest = now;
        }
    }

    void lost(Grant grant) {
        noteLost(grant, mind());
        grant.row.processes.remove(grant.claim);
    }

    boolean keepStep(Grant grant, String name, String json) {
        long now = mind();
        if (isHeld(grant)) {
            grant.row.steps.put(name, json);
            newest = now;
        } else {
            noteLost(grant, now);
        }
        return isHeld(grant);
    }

    // ---- by hand: false where it is refused, and then nothing has happened

    boolean cancel(Row row) {
        if (row.state.ended()) {
            return false;
        }
        long now = mind();
        row.end(State.CANCELLED, now);
        newest = now;
        return true;
    }

    boolean retry(Row row) {
        if (row.state != State.FAILED && row.state != State.CANCELLED || holder(row.asked.effectiveKey()).isPresent()) {
            return false;
        }
        newest = mind();
        row.dueAtOnce();
        row.attempts = 0;
        row.notNows = 0;
        row.finished = null;
        return true;
    }

    List<Long> prune(Duration older) {
        long now = mind();
        List<Row> old = rows.stream().filter(r -> isOver(r, now - older.toMillis())).toList();
        List<Row> gone = old.stream().filter(r -> r.batch == null
            || rows.stream().filter(other -> r.batch.equals(other.batch)).allMatch(old::contains)).toList();
        rows.removeAll(gone);
        newest = gone.isEmpty() ? newest : now;
        return gone.stream().map(r -> r.id).toList();
    }

    private static boolean isOver(Row row, long limit) {
        return row.state.ended() && row.finished <= limit && row.processes.isEmpty();
    }

    // ---- workers

    void enter(String worker) {
        mind();
        workers.add(worker);
    }

    void die(String worker) {
        dead.add(worker);
    }

    void leave(String worker) {
        mind();
        if (rows.stream().noneMatch(r -> r.grant != null && r.grant.worker.equals(worker))) {
            workers.remove(worker);
        }
    }

    void reclaim(String me) {
        takeBack(me, mind());
    }

    /** @param me leaves its own claims alone; null for nobody */
    private void takeBack(String me, long now) {
        for (Row row : rows) {
            if (row.state == State.CLAIMED && !row.grant.worker.equals(me)) {
                verdict(row, now).ifPresent(why -> takeBack(row, why, now));
            }
        }
    }

    private void takeBack(Row row, String why, long now) {
        if (row.attempts < row.most()) {
            row.dueAtOnce();
            row.message = why;
        } else {
            row.end(State.FAILED, now);
            row.message = "stranded: " + why + " in attempt " + row.attempts + " of " + row.most();
        }
        row.notNows = 0;
        newest = now;
    }

    private Optional<String> verdict(Row row, long now) {
        boolean over = row.leaseUntil <= now;
        if (!workers.contains(row.grant.worker)) {
            return over ? Optional.of("lease over") : Optional.empty();
        }
        if (dead.contains(row.grant.worker)) {
            return Optional.of("worker died");
        }
        if (!over) {
            overdue.remove(row.grant);
            return Optional.empty();
        }
        Sighting first = overdue.get(row.grant);
        if (first == null || first.until != row.leaseUntil) {
            first = new Sighting(row.leaseUntil, clock.nanos());
            overdue.put(row.grant, first);
        }
        boolean longEnough = clock.nanos() - first.awake >= row.lease() * 1_000_000;
        return longEnough ? Optional.of("worker hung: no heartbeat") : Optional.empty();
    }

    /** Processes whose claim is over are found to be gone. */
    void sweep() {
        boolean any = false;
        for (Row row : rows) {
            any |= row.processes.removeIf(claim -> row.state != State.CLAIMED || claim != row.claims);
        }
        if (any) {
            mind();
        }
    }

    /** Another process looks: it has not seen anybody overdue yet. */
    void reopen() {
        overdue.clear();
    }

    // ---- the clock

    private long mind() {
        long now = clock.millis();
        if (newest > now) {
            for (Row row : rows) {
                if (row.state == State.PENDING && !row.due && row.delay != null) {
                    row.notBefore = Math.min(row.notBefore, now + row.delay);
                }
                row.leaseUntil = row.state == State.CLAIMED ? Math.min(row.leaseUntil, now + row.lease()) : row.leaseUntil;
            }
            newest = now;
        }
        return now;
    }
}
