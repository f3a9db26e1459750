// A client of the sweepd engine for Java 17 and later, no libraries: this file is all of it. Specification:
// protocol/protocol.md.
//
//     java SweepdClient.java URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** One connection: one call at a time. A call not answered within the time-out ends it. */
public final class SweepdClient implements AutoCloseable {
    private static final int HELLO = 0x10, LOAD = 0x12, FIND = 0x13, SWEEP = 0x15;
    private static final List<String> STATUSES = List.of("OK", "MORE", "BAD_FRAME", "UNKNOWN", "BAD_PARAM", "NOT_FOUND",
        "LIMIT", "CANCELLED", "DENIED", "STALE", "SHUTTING_DOWN", "INTERNAL", "NO_MEMORY", "BUSY");

    /** What the engine answered; or CLOSED, REFUSED, TIMED_OUT: why there was no answer. */
    public static final class Failure extends IOException {
        private static final long serialVersionUID = 1;
        public final String status;
        public final long at; // the place, as the specification counts it; -1 none

        Failure(String status, long at, String text) {
            super(status + (at == -1 ? "" : " at " + Long.toUnsignedString(at)) + ": " + text);
            this.status = status;
            this.at = at;
        }
    }

    /** One that the engine holds. */
    public record Series(long handle, byte[] fingerprint, long bars) {}

    /** Window lengths in bars. */
    public record Combo(long half, long full, long smooth, long third, long mid, long p) {
        /** What the parameter `length` stands for (docs/numbers.md). */
        public static Combo ofLength(long length) {
            long p = rounded(length / 2.0);
            return new Combo(p, length, rounded(Math.sqrt(length)), rounded(p / 3.0), rounded(p / 2.0), p);
        }

        private static long rounded(double x) {
            return Math.max(1, (long) Math.rint(x)); // halves to even
        }
    }

    /** In the combos' order: percentage points, fees taken; closed trades. */
    public record Result(double[] pnl, long[] trades) {}

    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(action -> {
        Thread thread = new Thread(action, "sweepd-timeout");
        thread.setDaemon(true);
        return thread;
    });
    private final SocketChannel channel;
    private final long timeoutMs;
    private long maxBody = 0xffffffffL;
    private int lastId;
    private volatile boolean timedOut;

    /** url: unix:PATH or tcp:HOST:PORT. The token may be empty. */
    public SweepdClient(String url, String token, long timeoutMs) throws IOException {
        this.timeoutMs = timeoutMs;
        channel = open(url);
        byte[] secret = token.getBytes(StandardCharsets.UTF_8), name = "java".getBytes(StandardCharsets.UTF_8);
        ByteBuffer hello = buffer(12 + secret.length + name.length).putShort((short) 2).putShort((short) 0); // version 2.0
        hello.putInt(secret.length).putInt(name.length).put(secret).put(name);
        try {
            maxBody = call(HELLO, hello, 56).getLong(8);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static SocketChannel open(String url) throws IOException {
        int colon = url.lastIndexOf(':');
        boolean isUnix = url.startsWith("unix:");
        if (!isUnix && (!url.startsWith("tcp:") || colon < 4)) {
            throw new Failure("BAD_PARAM", -1, "address \"" + url + "\": expected unix:PATH or tcp:HOST:PORT");
        }
        SocketChannel channel = isUnix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
        try {
            channel.connect(isUnix ? UnixDomainSocketAddress.of(url.substring(5))
                : new InetSocketAddress(url.substring(4, colon), Integer.parseInt(url.substring(colon + 1))));
            return channel;
        } catch (IOException e) {
            channel.close();
            throw new Failure("REFUSED", -1, url + ": " + e.getMessage());
        }
    }

    /** allow: bits of the closes that are let in: 1 NaN, 2 infinities, 4 closes <= 0. */
    public Series load(double[] closes, int allow) throws IOException {
        ByteBuffer payload = buffer(16 + 8 * closes.length).putLong(closes.length).putInt(1).putInt(allow); // columns: close
        payload.asDoubleBuffer().put(closes);
        return series(call(LOAD, payload.position(payload.limit()), 64));
    }

    /** A series loaded before, by its fingerprint: nothing is sent again. NOT_FOUND: load it. */
    public Series find(byte[] fingerprint, long bars, int allow) throws IOException {
        return series(call(FIND, buffer(32).put(fingerprint).putLong(bars).putInt(1).putInt(allow), 64));
    }

    private static Series series(ByteBuffer reply) {
        byte[] fingerprint = new byte[16];
        reply.get(8, fingerprint);
        return new Series(reply.getLong(0), fingerprint, reply.getLong(32));
    }

    /** The study's fee is 0.09 percentage points a round trip. */
    public Result sweep(Series series, List<Combo> combos, double fee, boolean entryAtCross) throws IOException {
        int n = combos.size();
        ByteBuffer payload = buffer(56 + 48 * n).putLong(series.handle).putInt(1).putInt(0); // hma-cross; parameters as rows
        payload.putLong(n).putLong(3); // result columns 1 + 2: pnl and trades
        payload.putInt(0).putInt(16); // no windows: the whole series; bytes of options
        payload.putDouble(fee).putLong(entryAtCross ? 1 : 0);
        for (Combo c : combos) {
            payload.putLong(c.half).putLong(c.full).putLong(c.smooth).putLong(c.third).putLong(c.mid).putLong(c.p);
        }
        ByteBuffer reply = call(SWEEP, payload, 16 * n);
        Result result = new Result(new double[n], new long[n]);
        reply.asDoubleBuffer().get(result.pnl);
        reply.position(8 * n).slice().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(result.trades);
        return result;
    }

    /** Sends a request and returns its reply's payload, which has replySize bytes; behind HELLO's comes a text. */
    private ByteBuffer call(int opcode, ByteBuffer payload, int replySize) throws IOException {
        long size = 8L + payload.flip().remaining();
        if (size > maxBody) {
            throw new Failure("LIMIT", -1, "a request of " + size + " bytes, " + maxBody + " are allowed");
        }
        if (!channel.isOpen()) {
            throw new Failure("CLOSED", -1, "the connection has ended");
        }
        lastId = lastId % Integer.MAX_VALUE + 1; // never 0: the engine's own
        ByteBuffer header = buffer(12).putInt((int) size).putInt(opcode).putInt(lastId).flip();
        var alarm = clock.schedule(this::endForTimeout, timeoutMs, TimeUnit.MILLISECONDS);
        try {
            ByteBuffer body = exchange(new ByteBuffer[] {header, payload});
            int status = body.get(1), id = body.getInt(4);
            ByteBuffer reply = body.position(8).slice().order(ByteOrder.LITTLE_ENDIAN);
            int got = reply.remaining();
            if (status > 1 && got >= 24 && (id == lastId || id == 0)) {
                throw refusal(status, reply, id == 0);
            }
            boolean sizeIsRight = got == replySize || opcode == HELLO && got > replySize;
            if (status != 0 || id != lastId || body.get(0) != (byte) (opcode | 0x80) || !sizeIsRight) {
                throw new IOException("an answer of " + body.limit() + " bytes that does not fit the request");
            }
            return reply;
        } catch (Failure e) {
            throw e;
        } catch (IOException e) {
            channel.close();
            throw timedOut ? new Failure("TIMED_OUT", -1, "no answer within " + timeoutMs + " ms") : new Failure("CLOSED", -1, e.toString());
        } finally {
            alarm.cancel(false);
        }
    }

    private void endForTimeout() {
        timedOut = true;
        close();
    }

    private Failure refusal(int status, ByteBuffer payload, boolean isOfConnection) {
        String name = status < STATUSES.size() ? STATUSES.get(status) : "status " + status;
        if (isOfConnection) {
            close();
        }
        return new Failure(name, payload.getLong(0), StandardCharsets.UTF_8.decode(payload.position(24)).toString());
    }

    private ByteBuffer exchange(ByteBuffer[] frame) throws IOException {
        try {
            while (frame[0].hasRemaining() || frame[1].hasRemaining()) {
                channel.write(frame);
            }
        } catch (IOException e) {
            if (!channel.isOpen()) {
                throw e;
            } // else an answer may stand there all the same, and says why
        }
        long size = Integer.toUnsignedLong(read(4).getInt(0));
        if (size < 8 || size > Math.min(maxBody, Integer.MAX_VALUE)) {
            throw new IOException("an answer of " + size + " bytes");
        }
        return read((int) size);
    }

    private ByteBuffer read(int size) throws IOException {
        ByteBuffer bytes = buffer(size);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes) < 0) {
                throw new EOFException("the engine closed the connection");
            }
        }
        return bytes.flip();
    }

    @Override
    public void close() {
        clock.shutdown();
        try {
            channel.close();
        } catch (IOException e) {
            // nothing is left to lose
        }
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    // ---- The program: prints what the conformance tests compare ----

    /** null: it is not held, or no longer. */
    private static Series findOrNull(SweepdClient client, String fingerprint, int bars) throws IOException {
        try {
            return client.find(HexFormat.of().parseHex(fingerprint), bars, 0);
        } catch (Failure e) {
            if (e.status.equals("NOT_FOUND")) {
                return null;
            }
            throw e;
        }
    }

    private static void run(String url, String file, String lengths, String fingerprint) throws Exception {
        byte[] raw = Files.readAllBytes(Path.of(file));
        if (raw.length % 8 != 0) {
            throw new IOException(file + ": " + raw.length + " bytes are no whole number of doubles");
        }
        double[] closes = new double[raw.length / 8];
        ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer().get(closes);
        long[] asked = Arrays.stream(lengths.split(",")).mapToLong(Long::parseLong).toArray();
        var environment = System.getenv();
        long timeoutMs = Long.parseLong(environment.getOrDefault("SWEEPD_TIMEOUT_MS", "30000"));
        try (var client = new SweepdClient(url, environment.getOrDefault("SWEEPD_TOKEN", ""), timeoutMs)) {
            Series found = fingerprint == null ? null : findOrNull(client, fingerprint, closes.length);
            Series series = found != null ? found : client.load(closes, 0);
            Result result = client.sweep(series, Arrays.stream(asked).mapToObj(Combo::ofLength).toList(), 0.09, false);
            ByteBuffer bytes = buffer(16 * asked.length);
            Arrays.stream(result.pnl).forEach(bytes::putDouble);
            Arrays.stream(result.trades).forEach(bytes::putLong);
            HexFormat hex = HexFormat.of();
            System.out.println("sha256 " + hex.formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array())));
            System.out.println("series " + hex.formatHex(series.fingerprint) + " " + series.bars
                + (found != null ? " found" : " loaded"));
            for (int i = 0; i < Math.min(3, asked.length); i++) {
                System.out.printf(Locale.ROOT, "%d %.2f %d%n", asked[i], result.pnl[i], result.trades[i]);
            }
        }
    }

    public static void main(String[] words) {
        if (words.length < 3) {
            System.err.println("usage: SweepdClient URL FILE.f64 LENGTHS [FINGERPRINT]");
            System.exit(2);
        }
        try {
            run(words[0], words[1], words[2], words.length > 3 ? words[3] : null);
        } catch (Exception e) {
            System.err.println(e instanceof Failure ? e.getMessage() : e.toString());
            System.exit(1);
        }
    }
}
