package sloth;

/** Trying again would not help: the job fails at once. Exit 65. */
public class GiveUp extends Exception {
    public GiveUp(String why) {
        super(why);
    }
}
