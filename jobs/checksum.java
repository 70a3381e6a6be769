///usr/bin/env jbang "$0" "$@" ; exit $?
//JOB run=added key=args
// A handler for arguments, in Java alone: 'slothq add checksum FILE' writes FILE's SHA-256 into out/checksums/.
// run=added: no run starts it by itself. key=args: while a file's job is pending, adding it again adds nothing.

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;

public class checksum {

    private static final int GIVE_UP = 65;

    public static void main(String... args) throws IOException, GeneralSecurityException {
        if (args.length != 1 || !Files.isRegularFile(Path.of(args[0]))) {
            System.out.println("one file, please; not " + String.join(" ", args));
            System.exit(GIVE_UP);
        }
        Path file = Path.of(args[0]);
        String sum = sha256(file);
        Path to = Path.of("out", "checksums", file.getFileName() + ".sha256");
        Files.createDirectories(to.getParent());
        Path part = Files.writeString(Path.of(to + ".part"), sum + "  " + file + "\n"); // as 'sha256sum -c' reads it
        Files.move(part, to, StandardCopyOption.ATOMIC_MOVE);
        System.out.println(to + ": " + sum.substring(0, 12) + "…");
    }

    private static String sha256(Path file) throws IOException, GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] buffer = new byte[1 << 16];
        try (InputStream in = Files.newInputStream(file)) {
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                digest.update(buffer, 0, n);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }
}
