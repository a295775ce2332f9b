package dev.tenon.cuda.blas;

import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.timing.DeviceTiming;
import dev.tenon.nativelib.Switches;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Times the algorithms that cuBLASLt offers for a problem, on numbers of no meaning, and keeps the fastest for the process. {@code TENON_AUTOTUNE=0} switches it off: then the library's favourite is taken, as where there is no memory to try
 * them in. Thread-safe.
 */
final class LtTuning {
    private static final boolean ON = Switches.on("TENON_AUTOTUNE", true);
    /** Of host time for a problem; those not reached by then are not tried. */
    private static final long MOST_NANOS = 25_000_000;

    private static final double SHORT_MICROS = 50;
    private static final int REPETITIONS = 10;
    private static final int REPLAYS = 3;
    private static final long BOUNDARY = 256;
    /** Of operands: about 0.01 in f32 and bf16, 1 in f16, no NaN in any type. */
    private static final byte FILLING = 0x3c;

    private static final Map<Key, Choice> CHOSEN = new ConcurrentHashMap<>();

    private record Key(GemmProblem problem, String device, long workspaceBytes) {}

    /** An algorithm by its place among those offered, and how many were offered and timed. */
    private record Choice(int candidate, int offered, int timed) {}

    private LtTuning() {}

    /** Lets a product that nobody else knows yet take the fastest algorithm. The context is not captured into by this thread. */
    static void tune(LtProduct product, GpuContext context, ScratchMemory memory) {
        int offered = product.candidates();
        if (!ON || offered < 2) {
            return;
        }
        Key key = new Key(product.problem, context.device().name(), product.workspaceBytes);
        Choice choice = CHOSEN.get(key);
        if (choice == null || choice.offered() != offered) {
            choice = time(product, context, memory);
            if (choice == null) {
                return;
            }
            CHOSEN.put(key, choice);
        }
        product.choose(choice.candidate());
        product.timed(choice.timed());
    }

    private static @Nullable Choice time(LtProduct product, GpuContext context, ScratchMemory memory) {
        Operands operands = Operands.of(product);
        try (ScratchMemory.Loan loan = memory.borrow(operands.bytes())) {
            if (loan == null) {
                return null;
            }
            try (GpuStream stream = context.newStream()) {
                DeviceBuffer buffer = loan.buffer();
                stream.fill(buffer, 0, operands.workspace(), FILLING);
                return fastest(product, context, stream, operands.from(buffer.address()));
            }
        }
    }

    private static Choice fastest(LtProduct product, GpuContext context, GpuStream stream, Operands at) {
        long end = System.nanoTime() + MOST_NANOS;
        Runnable work = () -> stream.call(
                () -> product.call(at.a(), at.b(), at.d(), at.d(), at.bias(), at.workspace(), stream.handle()));
        int best = 0;
        double shortest = Double.POSITIVE_INFINITY;
        int timed = 0;
        for (int i = 0; i < product.candidates() && (i == 0 || System.nanoTime() < end); i++) {
            product.choose(i);
            double micros = micros(context, stream, work);
            timed += Double.isFinite(micros) ? 1 : 0;
            if (micros < shortest) {
                shortest = micros;
                best = i;
            }
        }
        return new Choice(best, product.candidates(), timed);
    }

    /** Of one product; infinite where the library does not run what it offered, or not in a recording. */
    private static double micros(GpuContext context, GpuStream stream, Runnable work) {
        try {
            work.run(); // loads the algorithm's kernels
            stream.synchronize();
            double once = DeviceTiming.replay(context, stream, work, 1, 1);
            return once > SHORT_MICROS ? once : DeviceTiming.replay(context, stream, work, REPETITIONS, REPLAYS);
        } catch (NativeException | CaptureException e) {
            if (!context.healthy()) {
                throw e;
            }
            return Double.POSITIVE_INFINITY;
        }
    }

    /** Offsets, or addresses, of what a product reads and writes, and the bytes of all. */
    private record Operands(long a, long b, long d, long bias, long workspace, long bytes) {
        static Operands of(LtProduct product) {
            GemmProblem p = product.problem;
            int operand = p.operands().bytes();
            long b = whole(((p.batches() - 1) * p.strideA() + p.m() * p.k()) * operand);
            long d = b + whole(((p.batches() - 1) * p.strideB() + p.k() * p.n()) * operand);
            long bias = d + whole(p.result().bytesFor(SizeMath.product("matmul", p.batches(), p.m(), p.n())));
            long workspace = bias + whole(p.n() * operand);
            return new Operands(0, b, d, bias, workspace, workspace + product.workspaceBytes);
        }

        Operands from(long base) {
            return new Operands(base + a, base + b, base + d, base + bias, base + workspace, bytes);
        }

        private static long whole(long bytes) {
            return Math.ceilDiv(bytes, BOUNDARY) * BOUNDARY;
        }
    }
}
