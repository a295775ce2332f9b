package dev.tenon.cli.bench;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.fn.CumulativeFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.ScatterFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.Attention;
import dev.tenon.core.ir.op.attention.AttentionMask;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.indexing.ScatterNd;
import dev.tenon.core.ir.op.movement.Concat;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.random.Sample;
import dev.tenon.core.ir.op.reduction.ArgReduce;
import dev.tenon.core.ir.op.reduction.Cumulative;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.TopK;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.core.options.AdditionOrder;
import dev.tenon.cuda.check.StepBench.Operand;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One operation to time; {@code bench/peers/ops_torch.py} has the same under the same names.
 *
 * @param sets copies of the operands, taken in turn, where one fits a cache
 */
record OpBenches(String name, Op op, List<Operand> operands, AdditionOrder order, int sets) {
    private static final long VOCABULARY = 128_256;
    private static final long PAST_CACHE = 160 << 20;
    private static final long HIDDEN = 512;

    private OpBenches(String name, Op op, Operand... operands) {
        this(name, op, List.of(operands), AdditionOrder.FIXED, 1);
    }

    /**
     * All of them.
     *
     * @param rows of 1024 numbers that the operations bound by memory work on
     */
    static List<OpBenches> all(long rows) {
        List<OpBenches> all = new ArrayList<>(memory(rows));
        all.addAll(vocabulary());
        all.addAll(quantised());
        all.addAll(attention());
        all.addAll(recurrent());
        all.addAll(ConvBenches.all());
        all.addAll(grouped());
        return all;
    }

    /** Products of tokens with their experts' weights, of one decoding step and of many; experts are drawn. */
    private static List<OpBenches> grouped() {
        List<OpBenches> all = new ArrayList<>();
        // experts, rows, columns, depth
        for (long[] size : new long[][] {
            {8, 32, 14336, 4096},
            {64, 128, 1408, 2048},
            {8, 8192, 14336, 4096},
            {64, 32768, 1408, 2048},
            {128, 16384, 768, 2048}
        }) {
            Operand x = Operand.normal(DType.BF16, size[1], size[3]);
            Operand w = Operand.normal(DType.BF16, size[0], size[3], size[2]).asWeight();
            Operand counts = Operand.counts(size[1], size[0]);
            String name = "grouped " + size[0] + " experts " + size[1] + "x" + size[2] + "x" + size[3];
            all.add(new OpBenches(name, new GroupedMatMul(), x, w, counts));
        }
        return all;
    }

    /** A layer of 512 units over 128 steps. */
    private static List<OpBenches> recurrent() {
        List<OpBenches> all = new ArrayList<>();
        for (long batch : new long[] {1, 64}) {
            Lstm op = new Lstm(
                    RnnDirection.FORWARD,
                    HIDDEN,
                    List.of(RnnActivation.SIGMOID, RnnActivation.TANH, RnnActivation.TANH),
                    0,
                    false,
                    false,
                    true,
                    false,
                    false,
                    false,
                    false);
            all.add(new OpBenches(
                    "lstm of batch " + batch,
                    op,
                    Operand.normal(DType.F32, 128, batch, HIDDEN),
                    Operand.normal(DType.F32, 1, 4 * HIDDEN, HIDDEN),
                    Operand.normal(DType.F32, 1, 4 * HIDDEN, HIDDEN),
                    Operand.normal(DType.F32, 1, 8 * HIDDEN)));
        }
        return all;
    }

    private static List<OpBenches> memory(long rows) {
        Operand x = Operand.normal(DType.F32, rows, 1024);
        Operand half = Operand.normal(DType.F32, rows, 512);
        Operand at = Operand.below(rows, DType.I64, rows, 1);
        return List.of(
                new OpBenches("gelu", Unary.of(UnaryFn.GELU), x),
                new OpBenches("sum of rows", new Reduce(ReduceFn.SUM, List.of(1), false), x),
                new OpBenches("sum of columns", new Reduce(ReduceFn.SUM, List.of(0), false), x),
                new OpBenches("argmax of rows", new ArgReduce(true, 1, false, false), x),
                new OpBenches("cumsum along rows", new Cumulative(CumulativeFn.SUM, 1, false, false), x),
                new OpBenches("transpose", new Transpose(List.of(1, 0)), x),
                new OpBenches("gather of rows", new Gather(0), x, Operand.below(rows, DType.I64, rows)),
                new OpBenches("scatter-add of rows", new ScatterNd(ScatterFn.ADD), x, at, x),
                new OpBenches(
                        "scatter-add in any order",
                        new ScatterNd(ScatterFn.ADD),
                        List.of(x, at, x),
                        AdditionOrder.ANY,
                        1),
                new OpBenches("concat of halves", new Concat(1), half, half),
                new OpBenches("top-64 of rows", new TopK(64, 1, true, true), x));
    }

    private static List<OpBenches> vocabulary() {
        Operand x = Operand.normal(DType.F32, 64, VOCABULARY);
        return List.of(
                new OpBenches("vocabulary top-50", new TopK(50, 1, true, true), x),
                new OpBenches("vocabulary argmax", new ArgReduce(true, 1, false, false), x),
                new OpBenches("vocabulary softmax", new Softmax(1), x),
                new OpBenches(
                        "vocabulary draw",
                        new Sample(),
                        x,
                        Operand.scalar(DType.F32, 0.8),
                        Operand.scalar(DType.I64, 50),
                        Operand.scalar(DType.F32, 0.9),
                        Operand.scalar(DType.F32, 0),
                        Operand.scalar(DType.I64, 7),
                        Operand.scalar(DType.I64, 1)),
                new OpBenches("vocabulary sort", new TopK(VOCABULARY, 1, true, true), x),
                new OpBenches("vocabulary cumsum", new Cumulative(CumulativeFn.SUM, 1, false, false), x));
    }

    private static List<OpBenches> quantised() {
        List<OpBenches> all = new ArrayList<>();
        for (BlockFormat format : List.of(BlockFormat.Q8_0, BlockFormat.Q4_0, BlockFormat.Q4_K)) {
            for (long[] nk : new long[][] {{14336, 4096}, {4096, 14336}}) {
                Operand x = Operand.normal(DType.F16, 1, nk[1]);
                // bytes below 64: scales are finite
                Operand w = Operand.below(64, DType.U8, nk[0], nk[1] / format.elements() * format.bytes())
                        .asWeight();
                String name = "gemv " + format.name().toLowerCase(Locale.ROOT) + " " + nk[0] + "x" + nk[1];
                all.add(new OpBenches(name, new DequantMatMul(format), List.of(x, w), AdditionOrder.FIXED, 8));
            }
        }
        for (DType q : List.of(DType.I8, DType.I4)) {
            for (long block : new long[] {0, 32}) {
                long n = 4096;
                long k = 14336;
                ScaledMatMul op = new ScaledMatMul(block, false);
                List<Operand> operands = List.of(
                        Operand.normal(DType.F16, 1, k),
                        Operand.weight(q, 3, n, k),
                        Operand.weight(DType.F16, 0.5, n, op.blocks(k)));
                String name = "gemv " + q + (block == 0 ? " by row " : " by block ") + n + "x" + k;
                all.add(new OpBenches(name, op, operands, AdditionOrder.FIXED, 8));
            }
        }
        Operand x = Operand.normal(DType.F16, 512, 4096);
        Operand w = Operand.below(64, DType.U8, 14336, 4096L / BlockFormat.Q4_K.elements() * BlockFormat.Q4_K.bytes());
        all.add(new OpBenches("512 rows of q4_k 14336x4096", new DequantMatMul(BlockFormat.Q4_K), x, w.asWeight()));
        return all;
    }

    private static List<OpBenches> attention() {
        List<OpBenches> all = new ArrayList<>();
        // batch, heads, length, size of a head, causal
        for (long[] size : new long[][] {
            {1, 32, 1024, 128, 1},
            {4, 32, 4096, 128, 1},
            {4, 32, 4096, 128, 0},
            {8, 16, 2048, 64, 0},
            {32, 12, 128, 32, 0},
            {1, 32, 16384, 128, 1}
        }) {
            boolean causal = size[4] == 1;
            Operand x = Operand.normal(DType.BF16, size[0], size[1], size[2], size[3]);
            String name =
                    "attention " + size[0] + " " + size[1] + " " + size[2] + " " + size[3] + (causal ? " causal" : "");
            all.add(new OpBenches(name, attention(causal), x, x, x));
        }
        // batch, heads, heads of keys, queries, keys, size of a head; keys and values past the L2
        for (long[] size : new long[][] {
            {1, 32, 8, 1, 1024, 128},
            {1, 32, 8, 1, 8192, 128},
            {1, 32, 8, 1, 65536, 128},
            {32, 32, 8, 1, 4096, 128},
            {1, 32, 32, 1, 8192, 128},
            {4, 32, 8, 4, 8192, 128}
        }) {
            Operand q = Operand.normal(DType.BF16, size[0], size[1], size[3], size[5]);
            Operand k = Operand.normal(DType.BF16, size[0], size[2], size[4], size[5]);
            String name = "attention decode " + size[0] + " " + size[1] + "/" + size[2] + " " + size[3] + " " + size[4]
                    + " " + size[5];
            int sets = Math.clamp(PAST_CACHE / (2 * k.type().bytes()), 1, 32);
            all.add(new OpBenches(name, attention(false), List.of(q, k, k), AdditionOrder.FIXED, sets));
        }
        return all;
    }

    private static Attention attention(boolean causal) {
        return new Attention(causal, 0, AttentionMask.NONE, Double.NaN, 0);
    }
}
