import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A server in Java: clients on a socket transfer between accounts, every seventh transfer is refused by an exception,
 * and another thread fails in every way there is. Arguments, files and output as of work.py, but the last line is
 * written by hand. ENDS LEDGER: a file for ends of transactions, and for a log of transfers.
 */
public final class Server {
    private static final int ACCOUNTS = 1000, CLIENTS = 3, DEPTH = 30, ROW = 12;
    private static final long[] balances = new long[ACCOUNTS];
    private static final AtomicBoolean stop = new AtomicBoolean();
    private static final Map<String, Long> counts = new TreeMap<>();
    private static final List<String> surprises = new ArrayList<>();
    private static RandomAccessFile ends, ledger;
    private static long committed;

    private static final class Refused extends Exception {}

    public static void main(String[] words) throws Exception {
        ends = new RandomAccessFile(words[0], "rw");
        ledger = new RandomAccessFile(words[1], "rw");
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stop.set(true);
            try {
                main.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        List<Thread> threads = new ArrayList<>();
        try (ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            door.setSoTimeout(100);
            for (int i = 0; i < CLIENTS; i++) {
                int number = i;
                threads.add(start(() -> ask(door.getLocalPort(), number)));
            }
            threads.add(start(Server::fail));
            while (!stop.get()) {
                try {
                    Socket client = door.accept();
                    threads.add(start(() -> serve(client)));
                } catch (java.net.SocketTimeoutException none) {
                    threads.removeIf(thread -> !thread.isAlive());
                }
            }
            for (Thread thread : threads) thread.join(5000);
        }
        long sum = 0;
        for (long balance : balances) sum += balance;
        StringBuilder wrong = new StringBuilder();
        if (sum != 0) wrong.append("\"sum of balances is ").append(sum).append(", not 0\"");
        if (ledger.length() != ROW * committed)
            wrong.append(wrong.length() > 0 ? ", " : "").append("\"the ledger has ").append(ledger.length() / ROW)
                .append(" rows, not ").append(committed).append("\"");
        StringBuilder counted = new StringBuilder("\"committed\": " + committed);
        counts.forEach((name, count) -> counted.append(", \"").append(name).append("\": ").append(count));
        StringBuilder others = new StringBuilder();
        for (String one : surprises) others.append(others.length() > 0 ? ", " : "").append('"').append(one).append('"');
        System.out.println("{\"counts\": {" + counted + "}, \"surprises\": [" + others + "], \"wrong\": [" + wrong + "]}");
    }

    private static Thread start(Runnable job) {
        Thread thread = new Thread(() -> {
            try {
                job.run();
            } catch (Throwable error) {
                surprised("a thread ended: " + error);
            }
        });
        thread.start();
        return thread;
    }

    private static synchronized void surprised(String what) {
        counts.merge("unexpected", 1L, Long::sum);
        if (surprises.size() < 20) surprises.add(what.replace('"', '\'').replace('\n', ' '));
    }

    // The server --------------------------------------------------------------
    private static void serve(Socket client) {
        try (client) {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                int from = in.readInt(), to = in.readInt();
                try {
                    descend(from, to, DEPTH);
                    out.writeByte(1);
                } catch (Refused refused) {
                    out.writeByte(0);
                }
            }
        } catch (IOException gone) {
            // The client has left.
        }
    }

    private static void descend(int from, int to, int levels) throws Refused, IOException {
        if (levels > 0) {
            descend(from, to, levels - 1);
            return;
        }
        transfer(from, to);
    }

    private static synchronized void transfer(int from, int to) throws Refused, IOException {
        if ((from + to) % 7 == 0) throw new Refused();
        balances[from]--;
        balances[to]++;
        ByteBuffer row = ByteBuffer.allocate(ROW).putInt(from).putInt(to).putInt((int) committed);
        ledger.write(row.array());
        committed++;
        ByteBuffer end = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(System.nanoTime());
        ends.write(end.array());
    }

    // Clients -----------------------------------------------------------------
    private static void ask(int port, int number) {
        Random draw = new Random(number);
        while (!stop.get()) {
            try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
                DataInputStream in = new DataInputStream(server.getInputStream());
                DataOutputStream out = new DataOutputStream(server.getOutputStream());
                for (int i = 0; i < 2000 && !stop.get(); i++) {
                    int from = draw.nextInt(ACCOUNTS), to = draw.nextInt(ACCOUNTS);
                    out.write(ByteBuffer.allocate(8).putInt(from).putInt(to).array());
                    boolean done = in.readByte() == 1;
                    if (done == ((from + to) % 7 == 0)) surprised("the server answered the opposite");
                }
                out.writeInt(1); // half of a request, and it leaves
            } catch (IOException error) {
                if (!stop.get()) surprised("a client: " + error);
            }
        }
    }

    // Failures ----------------------------------------------------------------
    private static void fail() {
        while (!stop.get()) {
            int[] none = stop.get() ? new int[1] : null;
            int zero = stop.get() ? 1 : 0;
            expect(NullPointerException.class, () -> none[0]);
            expect(ArithmeticException.class, () -> 7 / zero);
            expect(ArrayIndexOutOfBoundsException.class, () -> balances[ACCOUNTS + zero]);
            expect(ClassCastException.class, () -> (Integer) (Object) "seven");
            expect(StackOverflowError.class, () -> forever(1));
            expect(OutOfMemoryError.class, () -> new long[Integer.MAX_VALUE]);
            expect(OutOfMemoryError.class, Server::fillTheHeap);
            expect(ClassFormatError.class, () -> new Loader().define(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
            expect(InterruptedException.class, Server::interrupted);
            System.gc();
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void expect(Class<? extends Throwable> error, Callable<?> act) {
        try {
            act.call();
            surprised(error.getSimpleName() + ": nothing failed");
        } catch (Throwable other) {
            if (error.isInstance(other))
                synchronized (Server.class) {
                    counts.merge(error.getSimpleName(), 1L, Long::sum);
                }
            else
                surprised(error.getSimpleName() + ": " + other);
        }
    }

    private static int forever(int depth) {
        return forever(depth + 1) + 1;
    }

    private static Object fillTheHeap() {
        List<long[]> kept = new ArrayList<>();
        while (true) kept.add(new long[1 << 20]);
    }

    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] code) {
            return defineClass("Nothing", code, 0, code.length);
        }
    }

    private static Object interrupted() throws InterruptedException {
        Thread.currentThread().interrupt();
        Thread.sleep(1000);
        return null;
    }
}
