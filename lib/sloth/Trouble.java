package sloth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.sqlite.NativeLibraryNotFoundException;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Turns what SQLite and the file system say into the one line that helps: what, where, what to do. */
final class Trouble {

    private static final int PATH_BYTES_MOST = 504;

    private Trouble() {
    }

    /** The low byte is SQLite's primary code; the extended ones say where it came from. */
    static int primary(SQLException e) {
        return code(e) & 0xff;
    }

    private static int code(SQLException e) {
        return e instanceof SQLiteException s && s.getResultCode() != null ? s.getResultCode().code : e.getErrorCode();
    }

    static boolean isBusy(SQLException e) {
        return primary(e) == SQLiteErrorCode.SQLITE_BUSY.code || primary(e) == SQLiteErrorCode.SQLITE_LOCKED.code;
    }

    /** A full disk also shows as an I/O error of the shared-memory file that cannot grow. */
    static boolean isFull(SQLException e) {
        return primary(e) == SQLiteErrorCode.SQLITE_FULL.code || code(e) == SQLiteErrorCode.SQLITE_IOERR_SHMSIZE.code
            || code(e) == SQLiteErrorCode.SQLITE_IOERR_WRITE.code && String.valueOf(e.getMessage()).contains("space");
    }

    static boolean isDamage(SQLException e) {
        return primary(e) == SQLiteErrorCode.SQLITE_CORRUPT.code || primary(e) == SQLiteErrorCode.SQLITE_NOTADB.code;
    }

    private static boolean isReadOnly(Path folder) {
        try {
            return Files.getFileStore(folder).isReadOnly();
        } catch (IOException e) {
            return false;
        }
    }

    static SlothException of(Path file, SQLException e) {
        return isFull(e) || isBusy(e) ? SlothException.passing(say(file, e), e) : SlothException.unusable(say(file, e), e);
    }

    private static String say(Path file, SQLException e) {
        if (lacksLibrary(e)) {
            return "SQLite's native library cannot be unpacked: neither " + NativeLibrary.cache()
                + " nor " + System.getProperty("java.io.tmpdir")
                + " takes it (full, noexec or read-only); set XDG_CACHE_HOME or TMPDIR to a folder that does";
        }
        if (isFull(e)) {
            return "the disk is full, nothing was written to " + file + "; make space and try again";
        }
        return switch (SQLiteErrorCode.getErrorCode(primary(e))) {
            case SQLITE_BUSY, SQLITE_LOCKED -> file + " stays locked by another process; end that process (lsof names it) or try again";
            case SQLITE_NOTADB -> file + " is not a database (it was overwritten, or is something else); it was left as it is:"
                + " move it away, and bring back a backup";
            case SQLITE_CORRUPT -> file + " is damaged; nothing more is written to it:"
                + " save what it holds with sqlite3's .recover, or bring back a backup";
            case SQLITE_READONLY -> file + " cannot be written:"
                + " the file or its folder is read-only; give yourself the right to write there";
            case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH -> cannotOpen(file);
            case SQLITE_IOERR -> file + " could not be read or written (" + e.getMessage() + "); check the disk";
            default -> file + ": " + e.getMessage();
        };
    }

    private static boolean lacksLibrary(Throwable e) {
        return e instanceof NativeLibraryNotFoundException || e instanceof UnsatisfiedLinkError
            || e != null && lacksLibrary(e.getCause());
    }

    private static String cannotOpen(Path file) {
        Path folder = file.getParent();
        if (file.toString().getBytes(StandardCharsets.UTF_8).length > PATH_BYTES_MOST) {
            return "the folder's path is too long for SQLite (" + PATH_BYTES_MOST + " bytes): " + file + "; use a shorter one";
        }
        if (isReadOnly(folder)) {
            return file + " cannot be opened: its file system is mounted read-only; mount it for writing";
        }
        if (!Files.isDirectory(folder)) {
            return file + " cannot be opened: its folder is missing";
        }
        return file + " cannot be opened: no right to read or write it or its folder; check who owns them";
    }

    static boolean isFull(IOException e) {
        return String.valueOf(e.getMessage()).contains("No space left") || String.valueOf(e.getMessage()).contains("quota");
    }

    static SlothException of(Path where, IOException e) {
        if (e instanceof AccessDeniedException) {
            return SlothException.unusable(where + " cannot be written: permission denied; give yourself the right to write there", e);
        }
        String why = e instanceof FileSystemException f && f.getReason() != null ? f.getReason() : String.valueOf(e.getMessage());
        if (isFull(e)) {
            return SlothException.passing("the disk is full, nothing was written to " + where + "; make space and try again", e);
        }
        return SlothException.unusable(where + ": " + why, e);
    }
}
