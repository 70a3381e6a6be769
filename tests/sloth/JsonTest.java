package sloth;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** People script against these names: order, types and nulls, to the letter. */
@DisplayName("With --json")
class JsonTest {

    private static final String PENDING = """
        {"id":1,"job":"thumbs.sh","command":null,"args":["a.jpg"],"state":"pending","attempts":0,"max_attempts":4,"priority":0,\
        "not_before":null,"lease_until":null,"worker":null,"key":null,"batch":null,"progress":null,"message":null,\
        "created":"TIME","finished":null}""";
    private static final String DONE = with(PENDING, "state=done", "attempts=1", "message=hello", "finished=TIME");
    private static final String CLAIMED = with(PENDING, "state=claimed", "attempts=1", "lease_until=TIME", "worker=WORKER");

    @RegisterExtension final Cli here = new Cli();

    /** The same object with other values, each at its place. */
    private static String with(String json, String... members) {
        JsonObject object = JsonParser.parseString(json).getAsJsonObject();
        for (String member : members) {
            String name = member.substring(0, member.indexOf('='));
            object.add(name, JsonParser.parseString(member.substring(name.length() + 1)));
        }
        return object.toString();
    }

    private static String array(String... objects) {
        return "[" + String.join(",", objects) + "]";
    }

    private void addThumbs(String... args) {
        String[] command = new String[args.length + 2];
        command[0] = "add";
        command[1] = "thumbs";
        System.arraycopy(args, 0, command, 2, args.length);
        here.slothq(command).exits(0);
    }

    @Test void add_gives_the_job() {
        here.sh("thumbs", "#JOB run=added", "echo hello");
        here.slothq("add", "--json", "thumbs", "a.jpg").exits(0).quietly().printsJson(PENDING);
        here.slothq("--json", "add", "--priority", "-3", "--attempts", "2", "--key", "k", "--in", "1h", "--", "true", "x").exits(0)
            .printsJson(with(PENDING, "id=2", "job=null", "command=['true',x]", "args=[]", "max_attempts=2", "priority=-3",
                "not_before=TIME", "key=k"));
    }

    @Test void list_and_show_give_jobs_and_their_history() {
        here.sh("thumbs", "#JOB run=added", "echo hello");
        here.slothq("list", "--json").exits(0).printsJson("[]");
        addThumbs("a.jpg");
        here.slothq("run").exits(0);
        here.slothq("add", "--each", here.file("lines", "b\n").toString(), "thumbs").exits(0);
        here.slothq("list", "--json").exits(0).quietly().printsJson(array(DONE, with(PENDING, "id=2", "args=[b]", "batch=1")));
        here.slothq("show", "1", "--json").exits(0).quietly().printsJson(DONE.replaceFirst("}$", "") + """
            ,"history":[\
            {"seq":1,"at":"TIME","event":"added","attempt":null,"worker":null,"detail":{}},\
            {"seq":2,"at":"TIME","event":"claimed","attempt":1,"worker":"WORKER","detail":{"claim":1}},\
            {"seq":3,"at":"TIME","event":"done","attempt":1,"worker":"WORKER","detail":{"message":"hello"}}]}""");
    }

    @Test void list_and_status_tell_what_is_running_and_how_far_it_is() {
        here.sh("thumbs", "#JOB run=added", "echo ::progress 3/10 $2", "until [ -e go ]; do sleep 0.05; done", "echo hello");
        addThumbs("a.jpg");
        addThumbs("b.jpg", "half way");
        here.slothq("add", "--in", "1h", "--", "true");

        Cli.Live run = here.start("run", "--no-wait", "--parallel", "2");
        Cli.until("both tell their progress", () -> here.job(1).progress() != null && here.job(2).progress() != null);
        here.slothq("list", "--json", "--state", "claimed").exits(0).printsJson(array(
            with(CLAIMED, "progress={done:3,total:10,note:null}"),
            with(CLAIMED, "id=2", "args=[b.jpg,'half way']", "progress={done:3,total:10,note:'half way'}")));
        here.slothq("status", "--json").exits(0).quietly().printsJson("""
            {"folder":"%s","counts":{"pending":1,"claimed":2,"done":0,"failed":0,"cancelled":0},\
            "due":0,"waiting":1,"stranded":0,"next_due":"TIME",\
            "workers":[{"id":"WORKER","pid":%d,"host":"HOST","alive":true,"job":1}]}""".formatted(here.folder(), run.pid()));

        here.file("go", "");
        run.ends().exits(0);
        here.slothq("status", "--json").printsJson("""
            {"folder":"%s","counts":{"pending":1,"claimed":0,"done":2,"failed":0,"cancelled":0},\
            "due":0,"waiting":1,"stranded":0,"next_due":"TIME","workers":[]}""".formatted(here.folder()));
    }

    @Test void status_counts_a_stranded_job_and_shows_its_dead_worker() {
        here.sh("thumbs", "#JOB run=added", "sleep 300");
        addThumbs("a.jpg");
        Cli.Live run = here.start("run");
        here.untilJob(1, State.CLAIMED);
        run.killed();
        here.slothq("status", "--json").printsJson("""
            {"folder":"%s","counts":{"pending":0,"claimed":1,"done":0,"failed":0,"cancelled":0},\
            "due":0,"waiting":0,"stranded":1,"next_due":null,\
            "workers":[{"id":"WORKER","pid":%d,"host":"HOST","alive":false,"job":1}]}""".formatted(here.folder(), run.pid()));
        here.slothq("cancel", "1").exits(0);
    }

    @Test void an_empty_queue_has_all_its_numbers() {
        here.file("jobs/README.md", "nothing");
        here.slothq("--json").exits(0).quietly().printsJson("""
            {"folder":"%s","counts":{"pending":0,"claimed":0,"done":0,"failed":0,"cancelled":0},\
            "due":0,"waiting":0,"stranded":0,"next_due":null,"workers":[]}""".formatted(here.folder()));
    }

    @Test void retry_and_cancel_give_the_jobs_as_they_are_now() {
        here.sh("thumbs", "#JOB run=added attempts=1", "echo hello; exit 1");
        addThumbs("a.jpg");
        here.slothq("cancel", "1", "--json").exits(0)
            .printsJson(array(with(PENDING, "state=cancelled", "max_attempts=1", "finished=TIME")));
        here.slothq("retry", "1", "--json").exits(0).printsJson(array(with(PENDING, "max_attempts=1")));
        here.slothq("run").exits(1);
        here.slothq("retry", "--failed", "--json").exits(0)
            .printsJson(array(with(PENDING, "max_attempts=1", "message='exit 1: hello'")));
        here.slothq("retry", "--failed", "--json").exits(0).printsJson("[]");
    }

    @Test void jobs_gives_the_files_with_their_options_and_problems() {
        here.sh("a", "true");
        here.sh("b", "#JOB attempts=2 backoff=1s..1m lease=90s timeout=1h30m", "#JOB stall=10m priority=-5 run=always key=args");
        here.file("jobs/c.java", "//JOB attempts=0\nclass c { }\n");
        here.file("jobs/d.jsh", "println(1);\n");
        here.file("jobs/e.java", "class e implements sloth.Job { }\n");
        here.file("jobs/f", "text\n");
        String plain = "{\"job\":\"a.sh\",\"kind\":\"script\",\"options\":{},\"problem\":null}";
        assertEquals(array(plain,
            with(plain, "job=b.sh",
                "options={attempts:2,backoff:'1s..1m',lease:1m30s,timeout:1h30m,stall:10m,priority:-5,run:always,key:args}"),
            with(plain, "job=c.java", "kind=java", "problem='jobs/c.java:1: attempts=0 is not a whole number from 1 to 1000000'"),
            with(plain, "job=d.jsh", "kind=jshell"),
            with(plain, "job=e.java", "kind=hosted"),
            with(plain, "job=f", "kind=null", "problem=\"jobs/f: cannot be run: no #! line and no run bit; "
                + "'chmod +x' it, or call it _f to keep it here\"")) + "\n",
            here.slothq("jobs", "--json").exits(0).quietly().out());
    }

    @Test void run_gives_its_summary_alone_and_a_line_a_job_on_stderr() {
        here.sh("a", "#JOB attempts=2 backoff=50ms", "exit 1");
        here.sh("b", "echo hello");
        here.slothq("add", "--in", "1h", "--", "true");
        here.slothq("run", "--json").exits(1).printsJson("{\"done\":1,\"retried\":1,\"failed\":1,\"waiting\":1}")
            .says("retry   2 a.sh", "failed  2 a.sh", "done    3 b.sh", "hello");
        here.slothq("run", "--json").exits(0).printsJson("{\"done\":0,\"retried\":0,\"failed\":0,\"waiting\":1}");
    }

    @Test void a_refusal_is_the_same_line_on_stderr() {
        here.file("jobs/README.md", "nothing");
        here.slothq("show", "1", "--json").refuses("no job 1");
        here.slothq("--json", "add", "nosuch").refuses("no job file 'nosuch'");
    }
}
