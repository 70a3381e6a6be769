package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.OSInfo;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.WRITE;

/**
 * SQLite's native library, unpacked once for good. Left alone, the driver unpacks a megabyte into the temp folder at
 * every start (0.13 s), leaves it there after a kill -9, and fails where that folder is full or noexec.
 */
final class NativeLibrary {

    private NativeLibrary() {
    }

    /** Does its best: where it cannot, the driver's own way remains. */
    static synchronized void unpackOnce() {
        if (System.getProperty("org.sqlite.lib.path") != null) {
            return;
        }
        String name = System.mapLibraryName("sqlitejdbc");
        String system = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
        Path folder = cache().resolve((driver() + "-" + system).replace(' ', '-'));
        try {
            if (Files.exists(folder.resolve(name)) || unpack(folder, name)) {
                // Should it not load (a home shared with another kind of Linux), the driver goes on in its own way.
                System.setProperty("org.sqlite.lib.path", folder.toString());
                System.setProperty("org.sqlite.lib.name", name);
            }
        } catch (IOException e) {
            // No home to write to: the driver will unpack it into the temp folder.
        }
    }

    /** Its jar's name says the version; to ask the driver would start a process. */
    private static String driver() {
        return Path.of(SQLiteJDBCLoader.class.getProtectionDomain().getCodeSource().getLocation().getPath()).getFileName().toString();
    }

    private static boolean unpack(Path folder, String name) throws IOException {
        URL packed = SQLiteJDBCLoader.class.getResource("/org/sqlite/native/" + OSInfo.getNativeLibFolderPathForCurrentOS() + "/" + name);
        if (packed == null) {
            return false;
        }
        Files.createDirectories(folder);
        Path fresh = Files.createTempFile(folder, "unpack", ".tmp");
        try (InputStream in = packed.openStream(); FileChannel file = FileChannel.open(fresh, WRITE)) {
            in.transferTo(Channels.newOutputStream(file));
            // A power cut must not leave the name without the bytes.
            file.force(true);
            Files.move(fresh, folder.resolve(name), ATOMIC_MOVE);
            return true;
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    static Path cache() {
        String xdg = System.getenv("XDG_CACHE_HOME");
        Path caches = xdg == null || xdg.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(xdg);
        return caches.resolve("slothq");
    }
}
