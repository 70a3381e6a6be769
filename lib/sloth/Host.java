package sloth;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The machine, and this start of it. Another host's locks cannot be asked for, and a pid means something only within
 * one boot.
 *
 * @param boot changes with each start; null where the system does not tell
 */
record Host(String name, String boot) {

    private static final Host HERE = new Host(readName(), readBoot());

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
        name = name == null ? said("hostname") : name;
        return name == null ? "localhost" : name;
    }

    /** Linux has it in a file, macOS has a command for it. */
    private static String readBoot() {
        String id = read("/proc/sys/kernel/random/boot_id");
        return id == null ? said("sysctl", "-n", "kern.bootsessionuuid") : id;
    }

    private static String said(String... command) {
        try {
            Process p = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
            String text = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return text.isEmpty() ? null : text;
        } catch (IOException e) {
            return null;
        }
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            return null;
        }
    }
}
