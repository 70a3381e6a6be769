package sloth;

import java.util.Locale;

/** Where a job stands. The word in the file and on the screen is the name in lower case. */
public enum State {
    PENDING, CLAIMED, DONE, FAILED, CANCELLED;

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Done, failed and cancelled do not move by themselves. */
    public boolean ended() {
        return this == DONE || this == FAILED || this == CANCELLED;
    }

    static State of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    @Override public String toString() {
        return word();
    }
}
