package sloth;

/** The time is not right (no network, a busy disk): the attempt does not count, and the job comes back later. Exit 75. */
public class NotNow extends Exception {
    public NotNow(String why) {
        super(why);
    }
}
