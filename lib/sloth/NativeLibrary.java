package sloth;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.sqlite.SQLiteJDBCLoader;
import org.sqlite.util.OSInfo;

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
        URL packed = SQLiteJDBCLoader.class.getResource(
            "/org/sqlite/native/" + OSInfo.getNativeLibFolderPathForCurrentOS() + "/" + name);
        if (packed == null) {
            return;
        }
        Path folder = cache().resolve("sqlite-" + SQLiteJDBCLoader.getVersion() + "-" + OSInfo.getArchName());
        try {
            unpack(packed, folder, folder.resolve(name));
            System.setProperty("org.sqlite.lib.path", folder.toString());
            System.setProperty("org.sqlite.lib.name", name);
        } catch (IOException e) {
            // No home to write to: the driver will unpack it into the temp folder.
        }
    }

    private static void unpack(URL packed, Path folder, Path library) throws IOException {
        long size = packed.openConnection().getContentLengthLong();
        // A power cut can leave a name without its bytes.
        if (Files.exists(library) && Files.size(library) == size) {
            return;
        }
        Files.createDirectories(folder);
        Path fresh = Files.createTempFile(folder, "unpack", ".tmp");
        try (InputStream in = packed.openStream()) {
            Files.copy(in, fresh, StandardCopyOption.REPLACE_EXISTING);
            Files.move(fresh, library, StandardCopyOption.ATOMIC_MOVE);
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
