package dev.tenon.cuda.collective;

import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.error.NativeException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * How processes find each other: rank 0 listens at the master's port and gives each rank that joins the same bytes. A
 * rank says a magic number, the world's size and its rank; the answer is a length and the bytes, or -1 and what is
 * wrong.
 */
final class Rendezvous {
    private static final int MAGIC = 0x54454e4e;
    private static final int LONGEST = 4096;
    private static final int GREETING_MILLIS = 2000;
    private static final long RETRY_NANOS = 50_000_000;

    private Rendezvous() {}

    /**
     * The bytes that rank 0 made, on every rank. Rank 0 returns when all have them.
     *
     * @param maker called on rank 0 alone
     * @param deadline on the clock of {@link System#nanoTime}
     * @throws CollectiveTimeoutException naming who did not come
     * @throws NativeException when the port cannot be used, or another program answers there
     */
    static byte[] share(RankEnvironment here, Supplier<byte[]> maker, long deadline) {
        if (here.world() == 1) {
            return maker.get(); // nobody to meet
        }
        return here.rank() == 0 ? serve(here, maker.get(), deadline) : fetch(here, deadline);
    }

    private static byte[] serve(RankEnvironment here, byte[] bytes, long deadline) {
        BitSet joined = new BitSet(here.world());
        joined.set(0);
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(here.port()));
            while (joined.cardinality() < here.world()) {
                server.setSoTimeout(millis(deadline));
                try (Socket socket = server.accept()) {
                    socket.setSoTimeout(Math.min(GREETING_MILLIS, millis(deadline)));
                    answer(here, socket, bytes, joined);
                } catch (SocketTimeoutException e) {
                    if (System.nanoTime() - deadline >= 0) {
                        throw e;
                    }
                } catch (IOException e) {
                    if (server.isClosed()) {
                        throw e;
                    }
                    // somebody who knocked and left; the ranks that are missing still come
                }
            }
            return bytes;
        } catch (SocketTimeoutException e) {
            BitSet missing = (BitSet) joined.clone();
            missing.flip(0, here.world());
            throw new CollectiveTimeoutException(
                    "joining at port " + here.port() + ": rank(s) " + missing + " of " + here.world() + " did not come",
                    e);
        } catch (IOException e) {
            throw new NativeException(
                    "rank 0 cannot listen at port " + here.port() + " (MASTER_PORT): " + e.getMessage(), e);
        }
    }

    private static void answer(RankEnvironment here, Socket socket, byte[] bytes, BitSet joined) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        DataOutputStream out = new DataOutputStream(socket.getOutputStream());
        int magic = in.readInt();
        int world = in.readInt();
        int rank = in.readInt();
        if (magic != MAGIC) {
            return;
        }
        String fault = world != here.world()
                ? "rank " + rank + " has WORLD_SIZE " + world + ", rank 0 has " + here.world()
                : rank < 1 || rank >= world
                        ? "rank " + rank + " is none of the other ranks, 1 to " + (world - 1)
                        : joined.get(rank) ? "rank " + rank + " has joined before: two processes have that RANK" : "";
        if (!fault.isEmpty()) {
            out.writeInt(-1);
            out.writeUTF(fault);
            return;
        }
        out.writeInt(bytes.length);
        out.write(bytes);
        out.flush();
        if (in.read() == 1) { // it has them: before that it may still fail and come again
            joined.set(rank);
        }
    }

    private static byte[] fetch(RankEnvironment here, long deadline) {
        IOException last = null;
        while (System.nanoTime() - deadline < 0) {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(here.address(), here.port()), millis(deadline));
                socket.setSoTimeout(millis(deadline));
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                out.writeInt(MAGIC);
                out.writeInt(here.world());
                out.writeInt(here.rank());
                out.flush();
                DataInputStream in = new DataInputStream(socket.getInputStream());
                int length = in.readInt();
                if (length == -1) {
                    throw new NativeException(
                            "joining the ranks at " + here.address() + ":" + here.port() + ": " + in.readUTF());
                }
                if (length < 0 || length > LONGEST) {
                    throw new NativeException("what listens at " + here.address() + ":" + here.port()
                            + " is not rank 0 of this world; is MASTER_PORT used by another program?");
                }
                byte[] bytes = in.readNBytes(length);
                if (bytes.length == length) {
                    out.write(1);
                    out.flush();
                    return bytes;
                }
            } catch (IOException e) {
                last = e; // rank 0 may not be there yet
            }
            LockSupport.parkNanos(RETRY_NANOS);
        }
        throw new CollectiveTimeoutException(
                "rank " + here.rank() + " has not reached rank 0 at " + here.address() + ":" + here.port()
                        + " (MASTER_ADDR:MASTER_PORT)" + (last == null ? "" : ": " + last.getMessage()),
                last == null ? new SocketTimeoutException() : last);
    }

    private static int millis(long deadline) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()), 1, Integer.MAX_VALUE);
    }
}
