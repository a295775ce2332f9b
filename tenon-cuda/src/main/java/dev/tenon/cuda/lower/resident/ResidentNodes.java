package dev.tenon.cuda.lower.resident;

import dev.tenon.core.compiler.memory.MemoryPlanner;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Operands;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import dev.tenon.cuda.lower.resident.ResidentPhase.Sizes;
import dev.tenon.cuda.lower.resident.ResidentPhase.Weight;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Recognises the nodes that phases are made of. */
final class ResidentNodes {
    /** Bytes that a quad of lanes takes along k at a time. */
    private static final int CHUNK_BYTES = 64;

    private static final int COLUMNS = 8;
    private static final int GUARDED = 16;
    private static final long MOST_NORMED = 1024;
    private static final long MOST_KEYS = 256;
    private static final List<Integer> HEADS = List.of(32, 64);
    private static final long MOST_ELEMENTS = Integer.MAX_VALUE / 8;

    private ResidentNodes() {}

    /** The phase that a node is by itself; null where there is none. */
    static @Nullable ResidentPhase phase(Node node) {
        DType dtype = dtype(node);
        if (!isSmall(node) || (dtype != DType.F16 && dtype != DType.BF16 && dtype != DType.F32)) {
            return null;
        }
        return switch (node.op()) {
            case MatMul op -> product(op, node);
            case LayerNorm op -> norm(op, node);
            case RowRegion op -> isWidenedNorm(op) ? widened(norm((LayerNorm) op.row(), node), node) : null;
            case PlainAttention op -> attention(op, node);
            default -> null;
        };
    }

    private static boolean isSmall(Node node) {
        for (Value input : node.inputs()) {
            if (input.shape().elements() > MOST_ELEMENTS) {
                return false;
            }
        }
        long elements = node.output().shape().elements();
        return elements > 0 && elements <= MOST_ELEMENTS;
    }

    /** The type in which a node's phase computes: that of its result, where it does not make f32 of that at its end. */
    static DType dtype(Node node) {
        return node.op() instanceof RowRegion op && isWidenedNorm(op)
                ? node.input(0).dtype()
                : node.output().dtype();
    }

    /** Whether an operation is a norm and then a cast to f32, as at the end of an encoder of halves. */
    private static boolean isWidenedNorm(RowRegion op) {
        Region after = op.after();
        return op.before() == null
                && op.row() instanceof LayerNorm
                && after != null
                && after.steps().size() == 1
                && after.steps().getFirst().op() instanceof Cast(DType to, boolean _)
                && to == DType.F32;
    }

    private static @Nullable ResidentPhase widened(@Nullable ResidentPhase norm, Node node) {
        return norm == null ? null : norm.widened(node.output());
    }

    /** What a value is a view of, or the value itself. */
    static Value root(Value value) {
        return MemoryPlanner.shown(value);
    }

    private static @Nullable ResidentPhase product(MatMul op, Node node) {
        Epilogue epilogue = op.epilogue();
        Value b = node.input(1);
        boolean readable = b.shape().rank() == 2
                && (op.transposeB() || root(b).constant() instanceof ConstantData.Dense && root(b) == b);
        if (op.transposeA() || epilogue.residualFirst() || !readable) {
            return null;
        }
        Shape a = node.input(0).shape();
        long k = a.size(a.rank() - 1);
        long n = b.shape().size(op.transposeB() ? 0 : 1);
        if (k == 0 || k % chunk(node.output().dtype()) != 0 || n % COLUMNS != 0) {
            return null;
        }
        Operands at = new Operands(
                root(node.input(0)),
                new Weight(b, !op.transposeB()),
                epilogue.bias() ? root(node.input(2)) : null,
                epilogue.residual() ? root(node.inputs().getLast()) : null,
                node.output(),
                null,
                null,
                null);
        Sizes sizes = new Sizes(a.elements() / k, n, k, 0, 0, false);
        return new ResidentPhase(Kind.PRODUCT, Rows.PLAIN, at, sizes, epilogue.activation(), 0, 0);
    }

    private static @Nullable ResidentPhase norm(LayerNorm op, Node node) {
        Shape x = node.input(0).shape();
        long k = x.size(x.rank() - 1);
        boolean fits = op.scale()
                && op.bias()
                && op.axis() == x.rank() - 1
                && k <= MOST_NORMED
                && k % chunk(dtype(node)) == 0
                && node.input(1).shape().elements() == k
                && node.input(2).shape().elements() == k;
        if (!fits) {
            return null;
        }
        Operands at = new Operands(
                root(node.input(0)), null, null, null, node.output(), root(node.input(1)), root(node.input(2)), null);
        Sizes sizes = new Sizes(x.elements() / k, k, k, 0, 0, false);
        return new ResidentPhase(Kind.NORM, Rows.PLAIN, at, sizes, null, op.epsilon(), 0);
    }

    private static @Nullable ResidentPhase attention(PlainAttention op, Node node) {
        Shape y = node.output().shape();
        long keys = y.size(1);
        int head = HEADS.stream().filter(size -> size == y.size(3)).findFirst().orElse(0);
        if (!op.packed() || head == 0 || keys > MOST_KEYS) {
            return null;
        }
        Operands at = new Operands(
                root(node.input(0)),
                null,
                null,
                null,
                node.output(),
                op.mask() ? root(node.input(1)) : null,
                null,
                null);
        Sizes sizes = new Sizes(y.elements(0, 2), y.size(2), head, keys, head, false);
        int dims = (op.mask() ? maskDims(node.input(1).shape()) : 0) | (op.guarded() ? GUARDED : 0);
        return new ResidentPhase(Kind.ATTENTION, Rows.PLAIN, at, sizes, null, op.scale(), dims);
    }

    private static int maskDims(Shape mask) {
        int dims = 0;
        for (int i = 0; i < mask.rank(); i++) {
            dims |= mask.size(i) == 1 ? 0 : 1 << (4 - mask.rank() + i);
        }
        return dims;
    }

    private static int chunk(DType dtype) {
        return CHUNK_BYTES / dtype.bytes();
    }
}
