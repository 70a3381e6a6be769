package sloth;

import dev.jbang.devkitman.Jdk;
import dev.jbang.devkitman.jdkproviders.BaseJdkProvider;
import dev.jbang.devkitman.util.JavaUtils;
import dev.jbang.util.Util;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The JDKs on this machine, this JVM's own first. Of JBang's providers one downloads, and Linux's looks elsewhere. */
final class JdksHere extends BaseJdkProvider {
    @Override
    public String name() {
        return "here";
    }

    @Override
    public String description() {
        return "the JDKs on this machine";
    }

    @Override
    public List<Jdk.InstalledJdk> listInstalled() {
        String user = System.getProperty("user.home");
        var named = Stream.of(System.getProperty("java.home"), System.getenv("JAVA_HOME"))
            .filter(Objects::nonNull).map(Path::of);
        var onPath = Stream.ofNullable(Util.searchPath("javac")).map(c -> c.toAbsolutePath().getParent().getParent());
        var macOs = in("/Library/Java/JavaVirtualMachines").map(jdk -> jdk.resolve("Contents/Home"));
        return Stream.of(named, onPath, in("/usr/lib/jvm"), macOs, in(user + "/.sdkman/candidates/java"),
                in(user + "/.jdks"), in(user + "/.jbang/cache/jdks"))
            .flatMap(homes -> homes)
            .filter(home -> Files.exists(home.resolve("release")) && JavaUtils.hasJavacCmd(home))
            .map(home -> createJdk(home.toString(), home, null, false, null)).filter(Objects::nonNull).toList();
    }

    private static Stream<Path> in(String folder) {
        try (Stream<Path> homes = Files.list(Path.of(folder))) {
            return homes.sorted().toList().stream();
        } catch (IOException e) {
            return Stream.of();
        }
    }
}
