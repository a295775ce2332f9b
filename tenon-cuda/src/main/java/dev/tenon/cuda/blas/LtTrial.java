package dev.tenon.cuda.blas;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.tuning.Tunable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** One algorithm of cuBLASLt for a product. */
record LtTrial(LtProduct product, MemorySegment bytes) implements Tunable.Trial {
    /** The bytes that an algorithm's words stand for; none where they are no words of ours. */
    static byte[] bytes(String algorithm) {
        try {
            return HexFormat.of().parseHex(algorithm);
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    @Override
    public String algorithm() {
        return HexFormat.of().formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    @Override
    public boolean prepare() {
        return true;
    }

    @Override
    public void enqueue(GpuStream stream, DeviceBuffer memory) {
        long base = memory.address();
        Operands at = Operands.of(product).from(base);
        product.enqueue(stream, bytes, at.a(), at.b(), at.d(), at.d(), at.bias(), at.workspace());
    }

    @Override
    public void close() {
        // the product owns the bytes
    }

    /** Offsets, or addresses, of what a product reads and writes, and the bytes of all. */
    record Operands(long a, long b, long d, long bias, long workspace, long bytes) {
        static Operands of(LtProduct product) {
            GemmProblem p = product.problem;
            int operand = p.operands().bytes();
            long b = Tunable.whole(((p.batches() - 1) * p.strideA() + p.m() * p.k()) * operand);
            long d = b + Tunable.whole(((p.batches() - 1) * p.strideB() + p.k() * p.n()) * operand);
            long bias = d + Tunable.whole(p.result().bytesFor(SizeMath.product("matmul", p.batches(), p.m(), p.n())));
            long workspace = bias + Tunable.whole(p.n() * operand);
            return new Operands(0, b, d, bias, workspace, workspace + product.workspaceBytes);
        }

        Operands from(long base) {
            return new Operands(base + a, base + b, base + d, base + bias, base + workspace, bytes);
        }
    }
}
