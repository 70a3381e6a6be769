package sloth;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the {@code //JOB key=value …} or {@code #JOB …} lines in a file's head: the blank, comment, package and import
 * lines before the first code. A line that was plainly meant as one, and is not, is an error and not a comment.
 */
final class JobHead {

    private static final Pattern JOB = Pattern.compile("(?://|#)JOB(?:\\s+(.*))?");
    private static final Pattern NEARLY = Pattern.compile("(?://|#)\\s*(?i:job)\\s*:?\\s+[A-Za-z_]+=.*");
    private static final Pattern COMMENT = Pattern.compile("(?://|#|--).*");
    private static final Pattern DECLARATION = Pattern.compile("(?:package|import)\\s.*");

    /** The head of a file was wrong: {@code line} from 1, and a sentence for the user. */
    static final class Wrong extends Exception {
        final int line;

        Wrong(int line, String message) {
            super(message);
            this.line = line;
        }
    }

    private Options options = Options.DEFAULT;
    private boolean inBlock;

    private JobHead() {
    }

    static Options read(String text) throws Wrong {
        JobHead head = new JobHead();
        String[] lines = text.split("\r\n|\n|\r", -1);
        int n = 0;
        while (n < lines.length && head.take(lines[n].strip(), n + 1)) {
            n++;
        }
        for (; n < lines.length; n++) {
            Matcher late = JOB.matcher(lines[n]);
            if (late.matches() && String.valueOf(late.group(1)).matches("[a-z]+=.*")) {
                throw new Wrong(n + 1, "this JOB line stands after the first code; move it to the head of the file");
            }
        }
        return head.options;
    }

    /** @return false at the first line of code */
    private boolean take(String line, int number) throws Wrong {
        if (inBlock || line.startsWith("/*")) {
            inBlock = !line.contains("*/");
            return inBlock || line.endsWith("*/");
        }
        Matcher job = JOB.matcher(line);
        if (job.matches()) {
            takeOptions(job.group(1) == null ? "" : job.group(1), number);
            return true;
        }
        if (NEARLY.matcher(line).matches()) {
            throw new Wrong(number, "'" + line + "' is not read; write it as " + (line.startsWith("#") ? "#JOB" : "//JOB") + " key=value");
        }
        return line.isEmpty() || COMMENT.matcher(line).matches() || DECLARATION.matcher(line).matches();
    }

    private void takeOptions(String text, int number) throws Wrong {
        for (String word : text.strip().split("\\s+")) {
            if (word.isEmpty()) {
                continue;
            }
            int equals = word.indexOf('=');
            if (equals < 1) {
                throw new Wrong(number, "'" + word + "' is not an option; write key=value, for example attempts=4");
            }
            try {
                options = options.with(word.substring(0, equals), word.substring(equals + 1));
            } catch (IllegalArgumentException e) {
                throw new Wrong(number, e.getMessage());
            }
        }
    }
}
