package dev.tenon.cuda.collective;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.KernelModules;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuFunction;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelCompiler;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * One rank's part in all-reduces over peer memory: its workspace, which its peers write or read, and its kernels. One
 * thread at a time, but for {@link #stop}.
 */
public final class OneShotRank implements AutoCloseable {
    private static final int THREADS = 512;
    private static final int BLOCKS = 32;
    private static final int PACK = 16;
    private static final long SLOTS = 4096;
    private static final long STOP = 4 * BLOCKS;
    private static final int TURNS = 3;

    /** The longest vector that it takes, 256 KiB. */
    public static final long MOST_BYTES = (long) THREADS * BLOCKS * PACK;

    static final List<DType> DTYPES = List.of(DType.F32, DType.F16, DType.BF16);

    private final int rank;
    private final int world;
    private final GpuContext context;
    private final KernelModules modules;
    private final Map<DType, GpuFunction> functions = new EnumMap<>(DType.class);
    private final Arena arena = Arena.ofAuto();
    private final KernelArguments arguments = new KernelArguments(arena);
    private final DeviceBuffer workspace;
    private final DeviceBuffer table;
    private final GpuStream aside;
    private final PinnedBuffer one;

    OneShotRank(int rank, int world, GpuContext context, KernelCompiler compiler, OneShotGroup.Form form) {
        this.rank = rank;
        this.world = world;
        this.context = context;
        modules = new KernelModules(context, compiler);
        for (DType dtype : DTYPES) { // now, for a stream that captures cannot load anything
            functions.put(dtype, modules.function(form.file(), form.entry(), KernelVariant.of(dtype)));
        }
        workspace = context.allocate(SLOTS + MOST_BYTES * TURNS * world);
        table = context.allocate((long) Long.BYTES * world);
        one = context.allocatePinned(Integer.BYTES);
        one.segment().set(ValueLayout.JAVA_INT, 0, 1);
        aside = context.newStream();
        aside.fill(workspace, 0, SLOTS, (byte) 0);
        aside.fill(workspace, SLOTS, workspace.bytes() - SLOTS, (byte) 0xFF); // no element is sent as this
    }

    DeviceBuffer workspace() {
        return workspace;
    }

    /** Tells this rank where all ranks' workspaces are; from then on its memory is ready. */
    void meet(List<OneShotRank> ranks) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment addresses = scratch.allocate(ValueLayout.JAVA_LONG, world);
            for (int peer = 0; peer < world; peer++) {
                addresses.setAtIndex(
                        ValueLayout.JAVA_LONG, peer, ranks.get(peer).workspace().address());
            }
            aside.copyToDevice(addresses, table, 0);
        }
        aside.synchronize();
    }

    /** Whether it does such an all-reduce: sums and means of up to {@link #MOST_BYTES} of f32, f16 or bf16. */
    public static boolean takes(DType dtype, long length, ReduceOp op) {
        return DTYPES.contains(dtype)
                && length > 0
                && dtype.bytesFor(length) <= MOST_BYTES
                && (op == ReduceOp.SUM || op == ReduceOp.MEAN);
    }

    /**
     * Enqueues {@code target[i] = op over all ranks of source[i]}; every rank must, with the same length, type and op,
     * and the kernels of all must be able to run at the same time. Sums are made in float in the order of ranks and
     * rounded once, so every rank gets the same bits. May be captured and replayed.
     *
     * @param source this rank's; may be the target
     * @throws UnsupportedException for what {@link #takes} does not
     */
    public void enqueue(GpuStream stream, DeviceSlice source, DeviceSlice target, ReduceOp op) {
        if (!takes(source.dtype(), source.length(), op)) {
            throw new UnsupportedException(
                    "all-reduce over peer memory: " + op + " of " + source + "; it does sums and means of 1 to "
                            + MOST_BYTES / source.dtype().bytes() + " elements of " + DTYPES);
        }
        int packs = SizeMath.toInt("all-reduce", Math.ceilDiv(source.bytes(), PACK));
        LaunchShape shape = LaunchShape.of(Math.ceilDiv(packs, THREADS), THREADS);
        stream.launch(
                Objects.requireNonNull(functions.get(source.dtype())),
                context.device().architecture().major() >= 9 ? shape.withProgrammatic() : shape,
                arguments
                        .clear()
                        .add(table)
                        .add(source.address())
                        .add(target.address())
                        .add(source.length())
                        .add(rank)
                        .add(world)
                        .add(op == ReduceOp.MEAN ? (float) world : 1f));
    }

    /** Ends kernels that wait for a peer, from any thread; the group is of no use afterwards. */
    public void stop() {
        synchronized (one) {
            aside.copyToDevice(one.segment(), workspace, STOP);
        }
    }

    @Override
    public void close() {
        aside.close();
        modules.close();
        workspace.close();
        table.close();
        one.close();
    }
}
