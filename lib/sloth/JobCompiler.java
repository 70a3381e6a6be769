package sloth;

import dev.jbang.cli.ExitException;
import dev.jbang.net.GroovyManager;
import dev.jbang.net.KotlinManager;
import dev.jbang.source.BuildContext;
import dev.jbang.source.Builder;
import dev.jbang.source.Project;
import dev.jbang.source.Source;
import dev.jbang.source.sources.GroovySource;
import dev.jbang.source.sources.JavaSource.JavaAppBuilder;
import dev.jbang.source.sources.KotlinSource;
import dev.jbang.util.Util;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;
import org.jboss.jandex.Indexer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;

/**
 * Compiles a job file and what belongs to it, and packs the jar: JBang's own way for Java, which does for Kotlin and
 * Groovy too, their compilers taking the same options. It is quiet, can be interrupted, and notes which class is the job.
 */
final class JobCompiler extends JavaAppBuilder {

    /** In the jar's manifest: the class that implements {@link Job}. */
    static final String JOB_CLASS = "Slothq-Job";

    JobCompiler(BuildContext ctx) {
        super(ctx);
    }

    @Override
    protected Builder<Project> getJarBuildStep() {
        return () -> jar(ctx);
    }

    @Override
    protected Builder<Project> getCompileBuildStep() {
        Project project = ctx.getProject();
        Source source = project.getMainSource();
        return new JavaCompileBuildStep() {
            @Override
            protected String getCompilerBinary() {
                return source instanceof KotlinSource k ? KotlinManager.resolveInKotlinHome("kotlinc", k.getKotlinVersion())
                    : source instanceof GroovySource g ? GroovyManager.resolveInGroovyHome("groovyc", g.getGroovyVersion())
                    : super.getCompilerBinary();
            }

            @Override
            protected String getMainExtension() {
                return source.getType().extension;
            }

            @Override
            protected void runCompiler(ProcessBuilder compiler) throws IOException {
                compiler.environment().put("JAVA_HOME", project.projectJdk().home().toString());
                runQuietly(compiler, ctx.getGeneratedSourcesDir().resolve("said.txt"));
            }

            @Override
            protected void searchForMain(Path classes) {
                super.searchForMain(classes);
                jobClass(classes, project.getResourceRef().getFile())
                    .ifPresent(name -> project.getManifestAttributes().put(JOB_CLASS, name));
            }
        };
    }

    /** JBang starts the jar tool, takes a full disk or an interrupt for a fault of the file, and needs half a second. */
    private static Project jar(BuildContext ctx) throws IOException {
        Project project = ctx.getProject();
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        project.getManifestAttributes().forEach(manifest.getMainAttributes()::putValue);
        if (project.getMainClass() != null) {
            manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, project.getMainClass());
        }
        Path classes = ctx.getCompileDir();
        Path part = ctx.getGeneratedSourcesDir().resolve("part.jar");   // closing one that failed would make it look whole
        try (var out = new JarOutputStream(Files.newOutputStream(part), manifest); var all = Files.walk(classes)) {
            for (Path file : all.skip(1).filter(f -> !f.equals(classes.resolve(JarFile.MANIFEST_NAME))).toList()) {
                String name = classes.relativize(file).toString().replace('\\', '/');
                boolean folder = Files.isDirectory(file);
                out.putNextEntry(new ZipEntry(folder ? name + "/" : name));
                if (!folder) {
                    Files.copy(file, out);
                }
            }
        }
        Files.move(part, ctx.getJarFile(), StandardCopyOption.REPLACE_EXISTING);
        return project;
    }

    /** What the compiler says goes to a file: reading a pipe would not hear an interrupt until the compiler is done. */
    private static void runQuietly(ProcessBuilder compiler, Path said) throws IOException {
        Process process = compiler.redirectInput(ProcessBuilder.Redirect.PIPE).redirectErrorStream(true)
            .redirectOutput(said.toFile()).start();
        try {
            int code = process.waitFor();
            String all = new String(Files.readAllBytes(said), Charset.forName(System.getProperty("native.encoding")));
            String text = Output.JVM_NOTE.matcher(all).replaceAll("");
            if (code > 2 || code != 0 && text.isBlank()) {   // killed, out of memory, or no room to say what is wrong
                throw new IOException("the compiler ended with exit code " + code + " " + text);
            }
            if (code != 0) {
                throw new ExitException(code, text);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly().onExit().join();
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    /** The top-level class that implements Job and stands in the file itself; the one with its name, if there are more. */
    private static Optional<String> jobClass(Path classes, Path source) {
        try (Stream<Path> all = Files.walk(classes)) {
            var indexer = new Indexer();
            for (Path file : all.filter(f -> f.toString().endsWith(".class")).toList()) {
                try (var in = Files.newInputStream(file)) {
                    indexer.index(in);
                }
            }
            String text = new String(Files.readAllBytes(source), StandardCharsets.UTF_8);
            String name = Util.base(source.getFileName().toString());
            return indexer.complete().getKnownDirectImplementors(DotName.createSimple("sloth.Job")).stream()
                .filter(c -> c.enclosingClass() == null && !Modifier.isAbstract(c.flags()))
                .filter(c -> Pattern.compile("(?U)\\b(class|record)\\s+" + c.simpleName() + "\\b").matcher(text).find())
                .min(Comparator.comparing((ClassInfo c) -> !c.simpleName().equals(name)).thenComparing(ClassInfo::name))
                .map(c -> c.name().toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
