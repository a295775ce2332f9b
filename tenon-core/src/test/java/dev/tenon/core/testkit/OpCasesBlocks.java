package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.FusedAttentionBlock;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.MixtureOfExperts;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.contraction.BlockFormat;
import dev.tenon.core.ir.op.contraction.DecodeBlocks;
import dev.tenon.core.ir.op.contraction.DequantMatMul;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.LoraMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.core.ir.op.movement.Reverse;
import dev.tenon.core.ir.op.movement.Roll;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.LayerNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.ir.op.quantisation.FakeQuantize;
import dev.tenon.core.ir.op.reduction.Reduce;
import dev.tenon.core.ir.op.reduction.Sort;
import dev.tenon.core.ir.op.state.GatedDeltaNet;
import dev.tenon.core.ir.op.state.SelectiveScan;
import java.util.ArrayList;
import java.util.List;

/** Blocks of language models, packed weights, and what is made of movement. */
final class OpCasesBlocks {
    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(47);

    private OpCasesBlocks() {}

    static List<OpCase> all() {
        OpCasesBlocks all = new OpCasesBlocks();
        for (DType type : OpCases.FLOATS) {
            all.states(type);
            all.layers(type);
        }
        for (BlockFormat format : BlockFormat.values()) {
            all.packed(format);
        }
        OpCases.wholeBytes().forEach(all::moved);
        return List.copyOf(all.cases);
    }

    private void sums(String name, long length, Op op, NdArray... inputs) {
        cases.add(OpCase.sums(op.mnemonic() + " " + name, length, op, inputs));
    }

    /** The norm, softmax and mean of a scaled sum, and their tanh. In short types the parts alone round in between. */
    private void rowRegions(DType type, NdArray x, NdArray like, NdArray row) {
        if (type == DType.F16 || type == DType.BF16) {
            return;
        }
        Region before = new Region(
                List.of(
                        new Region.Step(new Binary(BinaryFn.MUL), List.of(0, 1)),
                        new Region.Step(new Binary(BinaryFn.ADD), List.of(3, 2))),
                List.of(1));
        Region after = new Region(
                List.of(
                        new Region.Step(Unary.of(UnaryFn.TANH), List.of(0)),
                        new Region.Step(new Binary(BinaryFn.SUB), List.of(1, 2))),
                List.of(1));
        LayerNorm norm = new LayerNorm(2, 1e-5, true, true);
        sums(type + " norm", 6, new RowRegion(3, before, norm, after), x, row, like, row, row, like);
        sums(type + " norm before", 6, new RowRegion(3, before, norm, null), x, row, like, row, row);
        sums(type + " softmax after", 6, new RowRegion(1, null, new Softmax(2), after), x, like);
        Reduce mean = new Reduce(ReduceFn.MEAN, List.of(1, 2), true);
        sums(type + " mean", 18, new RowRegion(3, before, mean, after), x, row, like, NdArray.zeros(type));
    }

    private void states(DType type) {
        for (long steps : new long[] {0, 1, 7}) {
            String name = type + " " + steps;
            NdArray x = random.array(type, 2, steps, 5);
            NdArray delta = random.floats(type, 0.0625, 0.5, 2, steps, 5);
            NdArray a = random.floats(type, -2, -0.0625, 5, 3);
            NdArray b = random.array(type, 2, steps, 3);
            NdArray c = random.array(type, 2, steps, 3);
            sums(name, 3, new SelectiveScan(false, false), x, delta, a, b, c);
            NdArray state = random.array(type, 2, 5, 3);
            sums(name + " going on", 4, new SelectiveScan(true, true), x, delta, a, b, c, random.array(type, 5), state);
            deltas(type, steps);
        }
    }

    private void deltas(DType type, long steps) {
        String name = type + " " + steps;
        NdArray q = random.array(type, 2, 4, steps, 3);
        NdArray k = random.floats(type, -0.5, 0.5, 2, 2, steps, 3);
        NdArray v = random.array(type, 2, 2, steps, 5);
        NdArray beta = random.floats(type, 0.0625, 1, 2, 2, steps);
        NdArray state = random.array(type, 2, 2, 3, 5);
        NdArray each = random.floats(type, -1, -0.0625, 2, 2, steps, 3);
        NdArray one = random.floats(type, -1, -0.0625, 2, 2, steps, 1);
        sums(name + " plain", 8, new GatedDeltaNet(false, false, false, 1), q, k, v);
        sums(name + " decay", 8, new GatedDeltaNet(true, false, true, 0.5), q, k, v, each, state);
        sums(name + " delta", 8, new GatedDeltaNet(false, true, false, Double.NaN), q, k, v, beta);
        sums(name + " both", 8, new GatedDeltaNet(true, true, true, Double.NaN), q, k, v, one, beta, state);
    }

    private void layers(DType type) {
        NdArray x = random.array(type, 2, 5, 6);
        NdArray like = random.array(type, 2, 5, 6);
        NdArray scale = random.array(type, 6);
        for (boolean sum : new boolean[] {true, false}) {
            String with = sum ? " and sum" : "";
            sums(type + with, 6, new ResidualNorm(false, sum, 2, 1e-5), x, like, scale);
            NdArray bias = random.array(type, 6);
            sums(type + " centred" + with, 6, new ResidualNorm(true, sum, 2, 1e-5), x, like, scale, bias);
        }
        for (Epilogue epilogue : List.of(Epilogue.NONE, Epilogue.NONE.withBias().withResidual())) {
            // whole numbers: what is normed is the same whether it was rounded before or not
            List<NdArray> operands =
                    new ArrayList<>(List.of(random.integers(type, -3, 3, 2, 5, 6), random.integers(type, -3, 3, 4, 6)));
            operands.addAll(
                    epilogue.isEmpty()
                            ? List.of()
                            : List.of(random.integers(type, -3, 3, 4), random.integers(type, -3, 3, 2, 5, 4)));
            NdArray factors = random.array(type, 4);
            operands.add(factors);
            MatMul product = new MatMul(false, true, epilogue);
            String of = type + " " + epilogue.inputs();
            sums(of, 6, new NormedMatMul(product, false, 0.1), operands.toArray(NdArray[]::new));
            operands.add(random.array(type, 4));
            sums(of + " centred", 6, new NormedMatMul(product, true, 0.1), operands.toArray(NdArray[]::new));
        }
        prologues(type);
        rowRegions(type, x, like, scale);
        for (long width : new long[] {2, 10, 32, 66}) {
            NdArray halves = random.array(type, 2, 5, width);
            for (Unary activation : List.of(Unary.of(UnaryFn.GELU), Unary.silu(), Unary.of(UnaryFn.TANH))) {
                String of = type + " " + activation.fn().word() + " of " + width;
                sums(of, 6, new GatedUnit(activation, false), halves);
                sums(of + ", second", 6, new GatedUnit(activation, true), halves);
            }
        }
        sums(type + " of no rows", 1, new GatedUnit(Unary.silu(), false), NdArray.zeros(type, 0, 4));
        sums(type + " of no columns", 1, new GatedUnit(Unary.silu(), false), NdArray.zeros(type, 3, 0));
        NdArray table = random.array(type, 5, 6);
        NdArray rows = NdArray.of(TensorType.of(DType.I64, 2, 5), 0L, 4L, -1L, 2L, 1L, -5L, 3L, 3L, 0L, 2L);
        NdArray bias = random.array(type, 6);
        sums(type + " one", 6, new EmbeddingNorm(1, false, 1e-5), table, rows, scale, bias);
        sums(type + " two", 6, new EmbeddingNorm(2, true, 1e-5), table, rows, table, rows, like, scale, bias);
        for (long groups : new long[] {1, 4, 16}) {
            NdArray image = random.array(type, 2, 7, 5, 16);
            NdArray factors = random.array(type, 16);
            sums(type + " " + groups, 70 * 16, new ChannelsLastNorm(groups, 1e-5, false), image);
            sums(
                    type + " affine " + groups,
                    70 * 16,
                    new ChannelsLastNorm(groups, 1e-5, true),
                    image,
                    factors,
                    factors);
        }
        sums(type + " long", 3100, new ChannelsLastNorm(8, 1e-5, false), random.array(type, 1, 3100, 8));
        sums(type + " of odd channels", 12, new ChannelsLastNorm(3, 1e-5, false), random.array(type, 1, 4, 9));
        NdArray q = random.array(type, 2, 3, 4, 5);
        NdArray k = random.array(type, 2, 7, 4, 5);
        NdArray v = random.array(type, 2, 7, 4, 6);
        sums(type.toString(), 16, new PlainAttention(false, 0.25), q, k, v);
        sums(type + " masked", 16, new PlainAttention(true, -0.5), q, k, v, random.array(type, 2, 1, 1, 7));
        NdArray qkv = random.array(type, 2, 7, 3, 4, 5);
        sums(type + " packed", 16, new PlainAttention(false, true, 0.25, false), qkv);
        sums(type + " packed, masked", 16, new PlainAttention(true, true, -0.5, false), qkv, random.array(type, 7, 7));
        projected(type);
        NdArray seen = NdArray.zeros(type, 2, 1, 1, 7);
        for (int i = 0; i < 9; i++) {
            seen.set(i, Double.NEGATIVE_INFINITY); // all keys of the first batch
        }
        sums(type + " guarded", 16, new PlainAttention(true, false, 0.25, true), q, k, v, seen);
        if (type.accumulator() == type) {
            products(type, x);
            experts(type);
        }
        NdArray step = NdArray.of(TensorType.of(type), 0.25);
        sums(type.toString(), 1, new FakeQuantize(DType.I8, 0, 0, false), x, step);
        NdArray steps = random.floats(type, 0.0625, 0.5, 6);
        sums(type + " by channel", 1, new FakeQuantize(DType.U8, 2, 0, true), x, steps, random.array(DType.U8, 6));
    }

    private void projected(DType type) {
        // whole numbers: q, k and v are the same whether they are rounded or not
        NdArray tokens = random.integers(type, -2, 2, 2, 7, 6);
        NdArray weights = random.integers(type, -1, 1, 6, 60);
        NdArray bias = random.integers(type, -2, 2, 60);
        PlainAttention heads = new PlainAttention(false, true, 0.25, false);
        sums(type.toString(), 16, new ProjectedAttention(MatMul.plain(), heads, 4), tokens, weights);
        MatMul biased = new MatMul(false, false, Epilogue.NONE.withBias());
        PlainAttention masked = new PlainAttention(true, true, 0.25, true);
        NdArray mask = random.array(type, 2, 1, 1, 7);
        sums(type + " masked", 16, new ProjectedAttention(biased, masked, 4), tokens, weights, bias, mask);
    }

    private void experts(DType type) {
        Unary silu = Unary.silu();
        NdArray gate = random.array(type, 3, 4, 5);
        NdArray up = random.array(type, 3, 4, 5);
        NdArray down = random.array(type, 3, 5, 4);
        for (long tokens : new long[] {0, 1, 7}) {
            NdArray x = random.array(type, tokens, 4);
            NdArray logits = random.array(type, tokens, 3);
            sums(type + " " + tokens, 64, new MixtureOfExperts(2, true, silu), x, logits, gate, up, down);
            sums(type + " " + tokens + " as is", 64, new MixtureOfExperts(1, false, silu), x, logits, gate, up, down);
        }
        NdArray one = NdArray.zeros(TensorType.of(type, 5, 3));
        for (int i = 0; i < 5; i++) {
            one.set(3 * i + 1, 4.0); // all tokens to one expert, the others have none
        }
        sums(
                type + " all to one",
                64,
                new MixtureOfExperts(1, true, silu),
                random.array(type, 5, 4),
                one,
                gate,
                up,
                down);
    }

    /** Short types round after each product: the one rounding that tolerances allow for is not enough. */
    private void products(DType type, NdArray x) {
        sums(
                type.toString(),
                13,
                new LoraMatMul(0.5),
                x,
                random.array(type, 6, 7),
                random.array(type, 6, 2),
                random.array(type, 2, 7));
        for (boolean causal : List.of(false, true)) {
            sums(
                    type + (causal ? " causal" : ""),
                    64,
                    new FusedAttentionBlock(2, causal),
                    x,
                    random.floats(type, -0.5, 0.5, 6, 12),
                    random.array(type, 12),
                    random.floats(type, -0.5, 0.5, 4, 6),
                    random.array(type, 6));
        }
    }

    private NdArray bytes(BlockFormat format, long rows, long blocks) {
        NdArray packed = random.integers(DType.U8, 0, 255, rows, blocks * format.bytes());
        // any two bytes are an f16 number; with small high bytes it is finite, and sums do not cancel by much
        for (int block = 0; block < rows * blocks; block++) {
            for (int high : highBytes(format)) {
                packed.set(block * format.bytes() + high, 0x08 + random.nextLong(0, 7));
            }
        }
        return packed;
    }

    private static int[] highBytes(BlockFormat format) {
        return switch (format) {
            case Q4_0, Q5_0, Q8_0 -> new int[] {1};
            case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {1, 3};
            case Q2_K -> new int[] {81, 83};
            case Q3_K -> new int[] {109};
            case Q6_K -> new int[] {209};
        };
    }

    private void packed(BlockFormat format) {
        for (DType type : OpCases.FLOATS) {
            cases.add(OpCase.close(
                    "decode_blocks " + format + " " + type, new DecodeBlocks(format, type), bytes(format, 3, 2)));
            int size = 2 * format.elements();
            sums(
                    format + " " + type,
                    size,
                    new DequantMatMul(format),
                    random.array(type, 2, 3, size),
                    bytes(format, 5, 2));
            sums(
                    format + " one row " + type,
                    size,
                    new DequantMatMul(format),
                    random.array(type, 1, size),
                    bytes(format, 37, 2));
        }
        sums(
                format + " no rows",
                1,
                new DequantMatMul(format),
                NdArray.zeros(DType.F32, 0, format.elements()),
                bytes(format, 3, 1));
        sums(
                format + " no columns",
                1,
                new DequantMatMul(format),
                NdArray.zeros(DType.F32, 2, 0),
                NdArray.zeros(DType.U8, 3, 0));
    }

    private void moved(DType type) {
        NdArray x = random.array(type, 3, 5, 2);
        for (Op op : List.of(new Roll(1, 2), new Roll(0, -4), new Roll(2, 0), new Reverse(List.of(0, 2)))) {
            cases.add(OpCase.exact(op + " " + type, op, x));
        }
        cases.add(OpCase.exact("roll nothing " + type, new Roll(0, 3), NdArray.zeros(type, 0, 2)));
        cases.add(OpCase.exact("reverse nothing " + type, new Reverse(List.of(0)), NdArray.zeros(type, 0, 2)));
        if (type.isNumeric()) {
            cases.add(OpCase.exact("sort " + type, new Sort(1, false), x));
            cases.add(OpCase.exact("sort descending " + type, new Sort(0, true), x));
        }
    }

    /** Whole numbers with a power of two of them, or functions that keep them whole: nothing is rounded on the way. */
    private void prologues(DType type) {
        NdArray x = random.integers(type, -3, 3, 2, 5, 6);
        NdArray weight = random.integers(type, -3, 3, 4, 6);
        NdArray turned = random.integers(type, -3, 3, 6, 4);
        NdArray bias = random.integers(type, -3, 3, 4);
        MatMul product = new MatMul(false, true, Epilogue.NONE);
        MatMul other = new MatMul(false, false, Epilogue.NONE.withBias());
        sums(type + " of a function", 6, new PrologueMatMul(Unary.of(UnaryFn.RELU), product), x, weight);
        NdArray halves = random.integers(type, -3, 3, 2, 5, 12);
        GatedUnit unit = new GatedUnit(Unary.of(UnaryFn.RELU), false);
        sums(type + " of a gated unit", 6, new PrologueMatMul(unit, other), halves, turned, bias);
    }
}
