package sloth;

import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.transfer.ArtifactNotFoundException;
import org.eclipse.aether.transfer.ArtifactTransferException;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/** Why a job file cannot be built, in words for its author. */
final class BuildTrouble {

    /** The file is wrong, or its Java is missing: trying again changes nothing. The message can be shown as it is. */
    static final class Failed extends Exception {
        Failed(String message) {
            super(message);
        }
    }

    /** The file may well be right: something that it needs cannot be had now. The message names it. */
    static final class NotNow extends Exception {
        NotNow(String message) {
            super(message);
        }
    }

    private BuildTrouble() {
    }

    /** Sorts what JBang threw: is it the file's fault? */
    static Failed sorted(Path job, RuntimeException e) throws NotNow {
        Throwable passing = causes(e).stream().filter(BuildTrouble::mayPass).findFirst().orElse(null);
        if (passing != null) {
            throw new NotNow(shown(job) + ": cannot be built now: " + told(e, passing));
        }
        return new Failed(sentence(job, e));
    }

    private static List<Throwable> causes(Throwable e) {
        var all = new ArrayList<Throwable>();
        for (Throwable t = e; t != null && !all.contains(t); t = t.getCause()) {
            all.add(t);
            if (t instanceof ArtifactResolutionException several) {
                several.getResults().forEach(r -> r.getExceptions().forEach(x -> all.addAll(causes(x))));
            }
        }
        return all;
    }

    /** A repository that answers "no such thing" makes it the file's fault; one that does not answer does not. */
    private static boolean mayPass(Throwable e) {
        if (e instanceof ArtifactTransferException) {
            return !(e instanceof ArtifactNotFoundException);
        }
        if (String.valueOf(e.getMessage()).startsWith("Could not resolve version range")) {
            return true;   // JBang does not say whether anybody answered
        }
        return e instanceof IOException && !(e instanceof FileSystemException || e instanceof FileNotFoundException);
    }

    /** The cause that says most: the artifact, or else the outermost with the innermost. */
    private static String told(Throwable e, Throwable cause) {
        return cause == e || cause instanceof ArtifactTransferException ? cause.getMessage()
            : e.getMessage() + ": " + cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    /** {@code jobs/bad.java:3: error: …}, whatever path the compiler was given. */
    private static String sentence(Path job, Exception e) {
        if (e instanceof NullPointerException && String.valueOf(e.getMessage()).contains("ResourceRef")) {
            return shown(job) + ": //DEPS names neither an artifact group:name:version (quoted when it has a comma) nor a file";
        }
        var all = causes(e);
        var cause = all.stream().filter(ArtifactNotFoundException.class::isInstance).findFirst().orElse(all.get(all.size() - 1));
        String folder = Objects.toString(job.getParent().getParent(), "");
        String text = String.valueOf(told(e, cause)).replaceAll("(?m)^" + Pattern.quote(folder) + "[/\\\\]", "")
            .replaceAll(" from Chain of .*", "").strip();
        return text.startsWith(shown(job)) ? text : shown(job) + ": " + text;
    }

    /** As its author calls it. */
    static String shown(Path job) {
        return job.getParent().getFileName() + "/" + job.getFileName();
    }
}
