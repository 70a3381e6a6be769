package sloth;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The machine, and this start of it. Another host's locks cannot be asked for, and a pid means something only within
 * one boot.
 *
 * @param boot changes with each start; null where the system does not tell
 */
record Host(String name, String boot) {

    private static final Host HERE = new Host(readName(), read("/proc/sys/kernel/random/boot_id"));

    static Host here() {
        return HERE;
    }

    /** The same boot is the same machine, whatever it calls itself now: laptops change names with their networks. */
    boolean isSameMachine(Host other) {
        return name.equals(other.name) || boot != null && boot.equals(other.boot);
    }

    boolean isSameBoot(Host other) {
        return boot == null ? isSameMachine(other) : boot.equals(other.boot);
    }

    private static String readName() {
        String name = read("/proc/sys/kernel/hostname");
        if (name == null) {
            try {
                name = new String(new ProcessBuilder("hostname").start().getInputStream().readAllBytes()).strip();
            } catch (IOException e) {
                name = "";
            }
        }
        return name.isEmpty() ? "localhost" : name;
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return null;
        }
    }
}
