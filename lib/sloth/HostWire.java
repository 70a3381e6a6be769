package sloth;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * What a worker and the JVM of a hosted job say to each other over a loopback socket: frames of a kind and some fields,
 * each a length and bytes. One channel for output and words alike, so that a job's last line comes before its end.
 */
final class HostWire implements AutoCloseable {

    /** W: the worker says it, H: the host does. */
    enum Kind {
        /** H: secret. The first frame. */ HELLO,
        /** W: id, attempt, state folder, arguments … */ RUN,
        /** W: the attempt is to end. */ CANCEL,
        /** W: what was asked for; no field when there is none. */ ANSWER,
        /** W: the lease is lost, or the wish cannot be; why. */ REFUSAL,
        /** H: bytes of stdout. */ OUT,
        /** H: bytes of stderr. */ ERR,
        /** H: done, total, note. */ PROGRESS,
        /** H: name; answered with the step's JSON value if it has one. */ STEP,
        /** H: name, JSON value. */ KEEP,
        /** H: job, arguments …; answered with the id. */ ADD,
        /** H: whether threads of it go on, "true" or "false"; message if any. The attempt ended well. */ DONE,
        /** H: the same; the message of an exception. */ FAILED,
        /** H: the same; why. */ NOT_NOW,
        /** H: the same; why. */ GIVE_UP
    }

    record Frame(Kind kind, List<byte[]> fields) {
        String text(int i) {
            return i < fields.size() ? new String(fields.get(i), StandardCharsets.UTF_8) : null;
        }

        List<String> texts(int from) {
            List<String> texts = new ArrayList<>();
            for (int i = from; i < fields.size(); i++) {
                texts.add(text(i));
            }
            return texts;
        }
    }

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    HostWire(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 1 << 14));
    }

    /** Any thread; a frame is never torn. */
    synchronized void send(Kind kind, byte[]... fields) throws IOException {
        out.writeByte(kind.ordinal());
        out.writeInt(fields.length);
        for (byte[] field : fields) {
            out.writeInt(field.length);
            out.write(field);
        }
        out.flush();
    }

    void send(Kind kind, List<String> fields) throws IOException {
        send(kind, fields.stream().map(f -> f.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new));
    }

    /** One thread. @throws java.io.EOFException when the other side is gone */
    Frame receive() throws IOException {
        Kind kind = Kind.values()[in.readByte()];
        int n = in.readInt();
        List<byte[]> fields = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            byte[] field = new byte[in.readInt()];
            in.readFully(field);
            fields.add(field);
        }
        return new Frame(kind, fields);
    }

    @Override public void close() throws IOException {
        socket.close();
    }
}
