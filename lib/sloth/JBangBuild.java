package sloth;

import com.google.gson.JsonParseException;
import dev.jbang.Settings;
import dev.jbang.devkitman.Jdk;
import dev.jbang.devkitman.JdkManager;
import dev.jbang.resources.ResourceRef;
import dev.jbang.source.BuildContext;
import dev.jbang.source.Project;
import dev.jbang.util.JavaUtil;
import dev.jbang.util.Util;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipException;

/**
 * Turns a job file into a {@link Program}, through JBang's library in this process: what a JBang script may say holds
 * here too, but for {@code //CDS} and {@code //MODULE}, which change only how the JVM starts. A file is compiled again
 * when it, one of its sources, files or local jars, or its Java changes, and not otherwise. Never downloads a JDK.
 */
final class JBangBuild {

    /** One build at a time in this JVM: JBang keeps static state, and the lock file must not be opened twice. */
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();
    private static final JdkManager JDKS = JdkManager.builder().providers(new JdksHere()).build();

    static {
        Util.setQuiet(true);
        // Quarkus and its kin run code at build time: in this process that would silence System.out in every thread.
        System.setProperty("jbang.build.integration.forceExternal", "true");
    }

    private final Path cache;
    private final Consumer<String> say;

    /**
     * @param cache the folder for the jars; may be deleted whenever no job runs
     * @param say   hears a line before a build that takes a while, and nothing when the jar is there
     */
    JBangBuild(Path cache, Consumer<String> say) {
        this.cache = cache.toAbsolutePath();
        this.say = say;
    }

    /** Takes 10 to 50 ms when nothing changed, 1 to 3 s to compile, and as long as the downloads last. */
    Program build(Path file) throws BuildTrouble.Failed, BuildTrouble.NotNow, InterruptedException, IOException {
        Path job = file.toAbsolutePath().normalize();
        if (Files.notExists(job)) {
            throw new NoSuchFileException(job.toString());
        }
        ONE_AT_A_TIME.lockInterruptibly();
        try {
            return program(job);
        } catch (RuntimeException | IOException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("while building " + BuildTrouble.shown(job));
            }
            if (e instanceof RuntimeException r) {
                throw BuildTrouble.sorted(job, r);
            }
            throw (IOException) e;
        } finally {
            ONE_AT_A_TIME.unlock();
        }
    }

    private Program program(Path job) throws BuildTrouble.Failed, IOException {
        Project project = Project.builder().jdkManager(JDKS).build(ResourceRef.forFile(job));
        Jdk.InstalledJdk jdk = jdk(job, project);
        String key = key(project, jdk);
        BuildContext ctx = BuildContext.forProject(project, cache.resolve(job.getFileName() + "." + key));
        Path java = Path.of(JavaUtil.resolveInJavaHome("java", jdk));
        if (project.isJShell()) {
            List<Path> classPath = dependencies(ctx);
            return new Program(java, options(ctx, jdk), classPath, null, null, scripts(project), inputs(project, classPath));
        }
        Attributes built = manifest(ctx.getJarFile());
        if (built == null) {
            built = compileAlone(job, ctx);
            if (!key.equals(key(project, jdk))) {   // edited meanwhile: that jar stands under the wrong key
                Files.delete(ctx.getJarFile());
                return program(job);
            }
        }
        String main = built.getValue(Attributes.Name.MAIN_CLASS);
        String hosted = built.getValue(JobCompiler.JOB_CLASS);
        if (main == null && hosted == null) {
            throw new BuildTrouble.Failed(BuildTrouble.shown(job) + ": has no main method and does not implement sloth.Job");
        }
        var classPath = new ArrayList<>(List.of(ctx.getJarFile()));
        classPath.addAll(dependencies(ctx));
        return new Program(java, options(ctx, jdk), classPath, main, hosted, List.of(), inputs(project, classPath));
    }

    private static Jdk.InstalledJdk jdk(Path job, Project project) throws BuildTrouble.Failed {
        Jdk.InstalledJdk jdk = JDKS.getInstalledJdk(project.getJavaVersion());
        if (jdk == null) {
            String wanted = Objects.toString(project.getJavaVersion(), "");
            List<Integer> here = JDKS.listInstalledJdks().stream().map(Jdk::majorVersion).distinct().sorted().toList();
            throw new BuildTrouble.Failed(BuildTrouble.shown(job) + ": needs a JDK " + wanted + "; installed: "
                + (here.isEmpty() ? "none" : here) + "; install one or change //JAVA, then retry");
        }
        return jdk;
    }

    /** What JBang would tell the JVM; not {@code //CDS}, whose warnings go to stdout, where the job's message is. */
    private static List<String> options(BuildContext ctx, Jdk.InstalledJdk jdk) {
        Project project = ctx.getProject();
        var options = new ArrayList<>(project.getRuntimeOptions());
        options.addAll(ctx.resolveClassPath().getAutoDectectedModuleArguments(jdk));
        for (String open : List.of("Add-Opens", "Add-Exports")) {
            Stream.of(project.getManifestAttributes().getOrDefault(open, "").split(" ")).filter(p -> !p.isEmpty())
                .forEach(p -> options.add("--" + open.toLowerCase(Locale.ROOT) + "=" + p + "=ALL-UNNAMED"));
        }
        if (project.enablePreview()) {
            options.add("--enable-preview");
        }
        return options;
    }

    private static List<Path> dependencies(BuildContext ctx) throws IOException {
        try {
            ctx.resolveClassPath();
        } catch (JsonParseException | NullPointerException e) {
            // JBang writes what it resolved into one file, not atomically, and trips over half of it for ever.
            Files.deleteIfExists(Settings.getCacheDependencyFile());
        }
        return ctx.resolveClassPath().getClassPaths().stream().map(Path::of).toList();
    }

    /** What a script asks for goes in before it, as JBang has it. */
    private static List<Path> scripts(Project project) {
        var scripts = new ArrayList<Path>();
        project.getMainSourceSet().getSources().forEach(s -> scripts.add(0, s.getFile()));
        return scripts;
    }

    /** Null when there is no whole jar: its directory stands at its end, so half a jar cannot be opened. */
    private static Attributes manifest(Path jar) throws IOException {
        try (var file = new JarFile(jar.toFile())) {
            return file.getManifest() == null ? null : file.getManifest().getMainAttributes();
        } catch (FileSystemException | ZipException e) {
            return null;
        }
    }

    /** JBang has no lock of its own: two processes that build the same file at once fail (its issue 2445). */
    private Attributes compileAlone(Path job, BuildContext ctx) throws IOException {
        Files.createDirectories(cache);
        try (var lock = FileChannel.open(cache.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            lock.lock();
            Attributes built = manifest(ctx.getJarFile());
            if (built == null) {
                say.accept("building " + BuildTrouble.shown(job));
                dependencies(ctx);
                compile(ctx);
                built = manifest(ctx.getJarFile());
            }
            return built;
        }
    }

    /** {@code //DEPS other.java} is a project of its own, built first. */
    private static void compile(BuildContext ctx) throws IOException {
        for (Project sub : ctx.getProject().getSubProjects()) {
            if (sub.getMainSource() != null) {
                sub.setJdkManager(JDKS);
                compile(ctx.forSubProject(sub));
            }
        }
        new JobCompiler(ctx).build();
    }

    /** Of all that the jar is made from. JBang's own key reads files as text, so a change within a picture can escape it. */
    private static String key(Project project, Jdk.InstalledJdk jdk) throws IOException {
        try (var sha = new DigestOutputStream(OutputStream.nullOutputStream(), MessageDigest.getInstance("SHA-256"))) {
            sha.write(jdk.majorVersion());
            digest(project, sha);
            return HexFormat.of().formatHex(sha.getMessageDigest().digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void digest(Project project, OutputStream sha) throws IOException {
        var set = project.getMainSourceSet();
        var places = set.getResources().stream().map(r -> r.to(Path.of(""))).toList();
        sha.write((set.getCompileOptions() + " " + set.getDependencies() + places).getBytes(StandardCharsets.UTF_8));
        for (Path file : files(project)) {
            sha.write((file.getFileName() + " " + Files.size(file) + " ").getBytes(StandardCharsets.UTF_8));
            Files.copy(file, sha);
        }
        for (Project sub : project.getSubProjects()) {
            digest(sub, sha);
        }
    }

    private static List<Path> files(Project project) {
        var set = project.getMainSourceSet();
        var files = new ArrayList<>(set.getSources());
        set.getResources().forEach(r -> files.add(r.getSource()));
        if (project.isJar()) {
            files.add(project.getResourceRef());
        }
        return files.stream().map(ResourceRef::getFile).toList();
    }

    /** What a build looks at: when none of it has moved, neither has the program. Folders too, for a glob may find more. */
    private static List<Path> inputs(Project project, List<Path> classPath) {
        var inputs = new ArrayList<Path>(classPath);
        for (Path file : files(project)) {
            inputs.add(file);
            inputs.add(file.toAbsolutePath().getParent());
        }
        project.getSubProjects().forEach(sub -> inputs.addAll(inputs(sub, List.of())));
        return inputs;
    }
}
