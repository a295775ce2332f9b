package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/**
 * An attention of sequences of their own lengths, as kernels are asked about it.
 *
 * @param tokens queries of all sequences
 * @param keys tokens of k, or how many pages there are
 * @param columns of the table of pages; 0 for none
 * @param page tokens of a page; 0 for none
 * @param sequences how many
 * @param longest most queries of a sequence
 * @param slots of the inputs, then of the result
 */
record RaggedProblem(
        RaggedAttention op,
        DType dtype,
        long tokens,
        long keys,
        long columns,
        long page,
        long sequences,
        long longest,
        int heads,
        int groups,
        int size,
        int sizeV,
        List<Integer> slots) {
    private static final String NAME = "attention";
    private static final int WIDEST = 16;
    private static final int PAGES = 5;

    static RaggedProblem of(RaggedAttention op, Node node, GpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape v = node.input(2).shape();
        long tokens = q.size(0);
        List<Integer> slots = new java.util.ArrayList<>();
        node.inputs().forEach(input -> slots.add(context.slot(input)));
        slots.add(context.slot(node.output()));
        return new RaggedProblem(
                op,
                node.output().dtype(),
                tokens,
                v.size(0),
                op.paged() ? node.input(PAGES).shape().size(1) : 0,
                op.paged() ? v.size(1) : 0,
                node.input(3).shape().size(0) - 1,
                op.longest() == 0 ? tokens : Math.min(tokens, op.longest()),
                SizeMath.toInt(NAME, q.size(1)),
                SizeMath.toInt(NAME, v.size(v.rank() - 2)),
                SizeMath.toInt(NAME, q.size(2)),
                SizeMath.toInt(NAME, v.size(v.rank() - 1)),
                slots);
    }

    /** Query heads that share a key head. */
    int group() {
        return heads / groups;
    }

    /** About how many keys a sequence has, at most where they lie in pages. */
    long keysOfOne() {
        return op.paged() ? SizeMath.product(NAME, columns, page) : Math.ceilDiv(keys, Math.max(1, sequences));
    }

    /** Whether rows of all operands are whole 16-byte pieces. */
    boolean isPacked() {
        int pack = WIDEST / dtype.bytes();
        return size % pack == 0 && sizeV % pack == 0;
    }

    /** A launch with the arguments that all kernels begin with. */
    PreparedLaunch.Builder launch(Kernel kernel, LaunchShape shape, DType real, GpuLoweringContext context) {
        long tokenK = (long) groups * size;
        long tokenV = (long) groups * sizeV;
        return PreparedLaunch.of(kernel, shape)
                .value(slots.get(0))
                .addAll((long) heads * size, size)
                .value(slots.get(1))
                .addAll(page * tokenK, tokenK, size)
                .value(slots.get(2))
                .addAll(page * tokenV, tokenV, sizeV)
                .value(slots.getLast())
                .addAll((long) heads * sizeV, sizeV)
                .value(slots.get(3))
                .value(slots.get(4))
                .value(op.paged() ? slots.get(PAGES) : -1)
                .value(op.alibi() ? slots.get(op.slopes()) : -1)
                .addAll(sequences, tokens, keys, columns, page, longest)
                .add(heads)
                .add(group())
                .add(size)
                .add(sizeV)
                .add(op.causal())
                .add(op.window())
                .compute(real, op.scaleFor(size))
                .compute(real, op.softCap())
                .faults(context);
    }
}
