package dev.tenon.core.testkit;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.contraction.Einsum;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.GroupedMatMul;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.MatMulInteger;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;

/** Matrix products. */
final class OpCasesContraction {
    private static final MatMul PLAIN = new MatMul(false, false, Epilogue.NONE);

    private final List<OpCase> cases = new ArrayList<>();
    private final Seeded random = new Seeded(8);

    private OpCasesContraction() {}

    static List<OpCase> all() {
        OpCasesContraction all = new OpCasesContraction();
        all.sizes();
        all.batches();
        all.empty();
        all.epilogues();
        all.integers();
        all.grouped();
        all.eightBits();
        all.einsum();
        return List.copyOf(all.cases);
    }

    private void sizes() {
        // around the edges of tiles of 16, 32 and 64, one row, one column, and one of each
        long[][] sizes = {
            {1, 1, 1},
            {1, 3, 2},
            {5, 7, 3},
            {16, 16, 16},
            {17, 33, 65},
            {64, 64, 64},
            {65, 31, 129},
            {1, 257, 70},
            {16, 100, 64},
            {4, 128, 1},
            {63, 4, 68}
        };
        for (DType type : OpCases.FLOATS) {
            for (long[] mkn : sizes) {
                for (int flags = 0; flags < 4; flags++) {
                    boolean a = (flags & 1) != 0;
                    boolean b = (flags & 2) != 0;
                    String name = "mat_mul " + (a ? "T" : "N") + (b ? "T" : "N") + " " + List.of(mkn[0], mkn[1], mkn[2])
                            + " " + type;
                    NdArray left = a ? random.array(type, mkn[1], mkn[0]) : random.array(type, mkn[0], mkn[1]);
                    NdArray right = b ? random.array(type, mkn[2], mkn[1]) : random.array(type, mkn[1], mkn[2]);
                    cases.add(OpCase.sums(name, mkn[1], new MatMul(a, b, Epilogue.NONE), left, right));
                }
            }
        }
        NdArray bad = OpCases.f32(new long[] {3, 2}, Double.NaN, 1, Double.POSITIVE_INFINITY, 1, 1, 1);
        cases.add(
                OpCase.sums("mat_mul of NaN and infinity", 2, PLAIN, bad, OpCases.f32(new long[] {2, 2}, 1, 0, 2, 3)));
    }

    private void batches() {
        for (DType type : OpCases.FLOATS) {
            batch("same batch " + type, random.array(type, 3, 5, 4), random.array(type, 3, 4, 6));
            batch("one matrix for all rows " + type, random.array(type, 3, 5, 4), random.array(type, 4, 6));
            batch("one lhs " + type, random.array(type, 1, 2, 3), random.array(type, 4, 3, 2));
            batch("both broadcast " + type, random.array(type, 2, 1, 3, 4), random.array(type, 1, 5, 4, 2));
            batch("longer rhs " + type, random.array(type, 3, 4), random.array(type, 2, 2, 4, 5));
        }
        // more batches than a grid has blocks along y or z
        for (long count : new long[] {65535, 65536, 65537}) {
            NdArray a = NdArray.zeros(DType.F32, count, 1, 4);
            NdArray b = NdArray.zeros(DType.F32, count, 4, 1);
            for (int i = 0; i < a.size(); i++) {
                a.set(i, (double) (i % 4 + 1) * (i / 4 % 7));
                b.set(i, 1.0);
            }
            cases.add(OpCase.exact("mat_mul of " + count + " batches", PLAIN, a, b));
        }
    }

    private void batch(String name, NdArray a, NdArray b) {
        cases.add(OpCase.sums("mat_mul " + name, 4, PLAIN, a, b));
    }

    private void empty() {
        DType f32 = DType.F32;
        cases.add(OpCase.exact("mat_mul K 0", PLAIN, NdArray.zeros(f32, 3, 2, 0), NdArray.zeros(f32, 3, 0, 3)));
        cases.add(OpCase.exact("mat_mul M 0", PLAIN, NdArray.zeros(f32, 0, 5), random.array(f32, 5, 3)));
        cases.add(OpCase.exact("mat_mul N 0", PLAIN, random.array(f32, 2, 5), NdArray.zeros(f32, 5, 0)));
        cases.add(OpCase.exact("mat_mul no batch", PLAIN, NdArray.zeros(f32, 0, 2, 5), random.array(f32, 5, 3)));
        Epilogue relu = Epilogue.NONE.withBias().withActivation(Unary.of(UnaryFn.RELU));
        cases.add(OpCase.exact(
                "mat_mul K 0 with an epilogue",
                new MatMul(false, false, relu),
                NdArray.zeros(f32, 4, 0),
                NdArray.zeros(f32, 0, 3),
                OpCases.f32(-1, 2, 3)));
    }

    private void epilogues() {
        List<Unary> activations = List.of(
                Unary.of(UnaryFn.RELU),
                Unary.of(UnaryFn.GELU),
                Unary.of(UnaryFn.GELU_TANH),
                new Unary(UnaryFn.SILU, 1, 0),
                Unary.of(UnaryFn.SIGMOID),
                Unary.of(UnaryFn.TANH),
                new Unary(UnaryFn.LEAKY_RELU, 0.125, 0),
                Unary.of(UnaryFn.SOFTPLUS),
                Unary.of(UnaryFn.HARD_SWISH),
                new Unary(UnaryFn.CLIP, -1, 1));
        for (DType type : OpCases.FLOATS) {
            epilogue(type, Epilogue.NONE.withBias());
            epilogue(type, Epilogue.NONE.withResidual());
            epilogue(type, Epilogue.NONE.withBias().withResidual());
            for (Unary activation : activations) {
                epilogue(type, Epilogue.NONE.withActivation(activation));
                epilogue(type, Epilogue.NONE.withBias().withActivation(activation));
                epilogue(
                        type,
                        Epilogue.NONE.withBias().withActivation(activation).withResidual());
            }
        }
    }

    private void epilogue(DType type, Epilogue epilogue) {
        Unary activation = epilogue.activation();
        String name = "mat_mul with" + (epilogue.bias() ? " bias" : "")
                + (activation == null ? "" : " " + activation.fn())
                + (epilogue.residual() ? " residual " : " ")
                + type;
        // the activations' inputs stay of the size they are used at: a factor of 1/8 on one operand
        List<NdArray> inputs =
                new ArrayList<>(List.of(random.array(type, 2, 9, 33), random.floats(type, -0.25, 0.25, 33, 18)));
        if (epilogue.bias()) {
            inputs.add(random.array(type, 18));
        }
        if (epilogue.residual()) {
            inputs.add(random.array(type, 2, 9, 18));
        }
        cases.add(new OpCase(name, new MatMul(false, false, epilogue), inputs, 33));
    }

    private void integers() {
        for (DType type : List.of(DType.I64, DType.I32, DType.U64, DType.U32)) {
            NdArray a = random.array(type, 2, 5, 7);
            NdArray b = random.array(type, 7, 3);
            a.set(0, 0x7FFF_FFFF_FFFFL);
            cases.add(OpCase.exact("mat_mul " + type, PLAIN, a, b));
            MatMul bias = new MatMul(false, true, Epilogue.NONE.withBias());
            cases.add(OpCase.exact(
                    "mat_mul with bias " + type, bias, a, random.array(type, 3, 7), random.array(type, 3)));
        }
    }

    private void grouped() {
        GroupedMatMul op = new GroupedMatMul();
        NdArray experts = NdArray.zeros(DType.F32, 4, 2, 2);
        for (int e = 0; e < 4; e++) {
            experts.set(e * 4, e + 1.0);
            experts.set(e * 4 + 3, e + 1.0);
        }
        NdArray tokens = OpCases.f32(new long[] {5, 2}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
        for (long[] counts : new long[][] {{2, 0, 3, 0}, {0, 0, 0, 5}, {5, 0, 0, 0}}) {
            String name = "grouped_mat_mul " + OpCases.sizes(counts);
            cases.add(OpCase.exact(name, op, tokens, experts, OpCases.i32(counts)));
            cases.add(OpCase.exact(name + " i64", op, tokens, experts, NdArray.ofLongs(counts)));
        }
        NdArray one = OpCases.f32(new long[] {1, 2}, 1, 2);
        cases.add(OpCase.exact("grouped_mat_mul one row", op, one, experts, OpCases.i32(0, 0, 1, 0)));
        NdArray none = NdArray.zeros(DType.F32, 0, 2);
        cases.add(OpCase.exact("grouped_mat_mul no rows", op, none, experts, OpCases.i32(0, 0, 0, 0)));
        for (DType type : OpCases.FLOATS) {
            cases.add(OpCase.sums(
                    "grouped_mat_mul " + type,
                    40,
                    op,
                    random.array(type, 150, 40),
                    random.array(type, 6, 40, 33),
                    OpCases.i32(1, 64, 0, 65, 20, 0)));
        }
    }

    private void eightBits() {
        for (DType a : List.of(DType.U8, DType.I8)) {
            for (DType b : List.of(DType.U8, DType.I8)) {
                NdArray left = random.integers(a, -200, 200, 2, 5, 37);
                NdArray right = random.integers(b, -200, 200, 37, 9);
                String name = "mat_mul_integer " + a + " " + b;
                cases.add(OpCase.exact(name, new MatMulInteger(false, false), left, right));
                NdArray one = random.integers(a, 0, 100);
                NdArray rows = random.integers(a, 0, 100, 5);
                NdArray columns = random.integers(b, 0, 100, 9);
                NdArray single = random.integers(b, 0, 100, 1);
                NdArray longer = random.integers(a, -200, 200, 65, 1100);
                NdArray wider = random.integers(b, -200, 200, 2, 1100, 68);
                NdArray each = random.integers(a, 0, 100, 65);
                NdArray every = random.integers(b, 0, 100, 68);
                cases.add(OpCase.exact(name + " in parts", new MatMulInteger(true, true), longer, wider, each, every));
                NdArray none = random.integers(a, 0, 100, 3, 0);
                cases.add(OpCase.exact(
                        name + " of no depth",
                        new MatMulInteger(false, false),
                        none,
                        random.integers(b, 0, 100, 0, 5)));
                cases.add(OpCase.exact(name + " lhs", new MatMulInteger(true, false), left, right, one));
                cases.add(OpCase.exact(name + " rhs", new MatMulInteger(false, true), left, right, columns));
                cases.add(OpCase.exact(name + " both", new MatMulInteger(true, true), left, right, rows, columns));
                cases.add(OpCase.exact(name + " one each", new MatMulInteger(true, true), left, right, one, single));
            }
        }
    }

    private void einsum() {
        for (DType type : OpCases.FLOATS) {
            einsum("ij,jk->ik", type, new long[] {3, 5}, new long[] {5, 4});
            einsum("bij,bkj->bik", type, new long[] {2, 3, 5}, new long[] {2, 4, 5});
            einsum("...ij,...jk", type, new long[] {2, 1, 3, 5}, new long[] {3, 5, 4});
        }
        einsum("bhwc,hkc->bhwk", DType.F32, new long[] {2, 3, 4, 5}, new long[] {3, 6, 5});
        einsum("ij->ji", DType.F32, new long[] {3, 5});
        einsum("ij->", DType.F32, new long[] {3, 5});
        einsum("ii->i", DType.F32, new long[] {4, 4});
        einsum("bii->b", DType.F32, new long[] {3, 4, 4});
        einsum("i,j->ij", DType.F32, new long[] {3}, new long[] {4});
        einsum("i,i->", DType.F32, new long[] {4}, new long[] {4});
        einsum("ij,jk,kl->il", DType.F32, new long[] {2, 3}, new long[] {3, 4}, new long[] {4, 5});
        einsum("ij,ij->ij", DType.I32, new long[] {1, 3}, new long[] {2, 3});
        einsum("ij,jk", DType.F32, new long[] {2, 0}, new long[] {0, 3});
        einsum("ij->ij", DType.F32, new long[] {2, 3});
    }

    private void einsum(String equation, DType type, long[]... operands) {
        List<NdArray> inputs = new ArrayList<>();
        for (long[] sizes : operands) {
            inputs.add(random.array(type, sizes));
        }
        cases.add(new OpCase("einsum " + equation + " " + type, new Einsum(equation), inputs, 5));
    }
}
