package sloth;

/**
 * Something the user should read: one line that says what, where, and what to do.
 * The command line prints the message and exits with {@link #exitCode}; a stack trace is for bugs.
 */
public class SlothException extends RuntimeException {

    /** Asked for something that cannot be: usage, an unknown id, no queue here, a wrong state. */
    public static final int REFUSED = 2;
    /** The queue cannot be used: disk full, corrupt, moved, locked, read-only. */
    public static final int UNUSABLE = 3;

    private final int exitCode;
    private final boolean passing;

    private SlothException(int exitCode, boolean passing, String message, Throwable cause) {
        super(message, cause);
        this.exitCode = exitCode;
        this.passing = passing;
    }

    public static SlothException refused(String message) {
        return new SlothException(REFUSED, false, message, null);
    }

    public static SlothException unusable(String message, Throwable cause) {
        return new SlothException(UNUSABLE, false, message, cause);
    }

    /** It may go away by itself: a held lock, a full disk. Whoever has time may wait. */
    static SlothException passing(String message, Throwable cause) {
        return new SlothException(UNUSABLE, true, message, cause);
    }

    boolean isPassing() {
        return passing;
    }

    public int exitCode() {
        return exitCode;
    }
}
