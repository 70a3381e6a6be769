package sloth;

import java.util.List;

/**
 * One row of the queue, as it was when it was read. Times are epoch milliseconds UTC, null where there is none.
 *
 * @param job        file name in {@code jobs/}, null for a command
 * @param command    argument vector, null for a job file
 * @param attempts   claims that count
 * @param claims     claims ever, the number of the newest; never set back
 * @param notBefore  null for as soon as possible
 * @param leaseUntil null unless claimed; so are worker and token
 */
public record JobRecord(long id, String job, List<String> command, List<String> args, State state, int attempts,
                        int claims, Options options, Long notBefore, Long leaseUntil, String worker, String token,
                        String key, Long batch, Progress progress, String message, long created, Long finished) {

    /** @param total null where it is not known */
    public record Progress(long done, Long total, String note) {
    }

    /** What a person calls it: the file and its arguments, or the command. */
    public String title() {
        StringBuilder text = new StringBuilder();
        if (job != null) {
            text.append(job);
        }
        for (String word : job == null ? command : args) {
            text.append(text.isEmpty() ? "" : " ").append(quoted(word));
        }
        return text.toString();
    }

    private static String quoted(String word) {
        String clean = word.replaceAll("\\p{Cntrl}", "?");
        return clean.isEmpty() || clean.indexOf(' ') >= 0 ? "'" + clean + "'" : clean;
    }
}
