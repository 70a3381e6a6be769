package sloth;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** {@code .slothq/sloth.jar}: the types that a hosted job compiles against, and nothing else. */
final class JobJar {

    private static final List<Class<?>> TYPES = List.of(Job.class, JobContext.class, NotNow.class, GiveUp.class, JobAlone.class);

    private JobJar() {
    }

    /** Leaves a jar alone that is as it should be: whatever was built against it stays built. */
    static void write(QueueFolder folder) throws IOException {
        byte[] jar = bytes();
        if (Files.exists(folder.jar()) && Arrays.equals(Files.readAllBytes(folder.jar()), jar)) {
            return;
        }
        Path fresh = Files.createTempFile(folder.hidden(), "sloth", ".tmp");
        Files.write(fresh, jar);
        fresh.toFile().setReadable(true, false); // like the files around it
        Files.move(fresh, folder.jar(), StandardCopyOption.ATOMIC_MOVE);
    }

    private static byte[] bytes() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (Class<?> type : TYPES) {
                String name = type.getName().replace('.', '/') + ".class";
                ZipEntry entry = new ZipEntry(name);
                entry.setTime(0);
                zip.putNextEntry(entry);
                try (InputStream in = type.getResourceAsStream("/" + name)) {
                    in.transferTo(zip);
                }
            }
        }
        return bytes.toByteArray();
    }
}
