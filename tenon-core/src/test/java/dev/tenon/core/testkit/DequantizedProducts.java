package dev.tenon.core.testkit;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.contraction.ScaledMatMul;
import dev.tenon.core.ir.op.quantisation.Dequantize;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.StepReport;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Weights;
import dev.tenon.core.tensor.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Products with a dequantised constant weight of {@link #DEPTH} by {@link #COLUMNS}, too large to be folded.
 *
 * @param rows of x
 * @param q type of the weight
 * @param dtype of x, the scale and the result
 * @param transposed whether the weight is [columns, depth]
 * @param block elements with one scale; 0 for one a column, -1 for one in all
 * @param zeroPoint whether the weight has zero points
 */
public record DequantizedProducts(long rows, DType q, DType dtype, boolean transposed, long block, boolean zeroPoint) {
    public static final long DEPTH = 1056;
    public static final long COLUMNS = 131;

    /** Every type and form, each with few and with many rows. */
    public static List<DequantizedProducts> all() {
        List<DequantizedProducts> all = new ArrayList<>();
        long[] blocks = {-1, 0, 32, 100};
        for (DType q : List.of(DType.I8, DType.U8, DType.I4, DType.U4)) {
            for (int i = 0; i < 8; i++) {
                DType dtype =
                        List.of(DType.F32, DType.F16, DType.BF16, DType.F64).get((i + q.bits()) % 4);
                all.add(new DequantizedProducts(i % 2 == 0 ? 1 : 17, q, dtype, i >= 4, blocks[i % 4], i % 3 > 0));
            }
        }
        return all;
    }

    /** The node that it becomes. */
    public ScaledMatMul expected() {
        return new ScaledMatMul(Math.max(0, block), zeroPoint);
    }

    /** Values for the graph's input. */
    public NdArray x() {
        return new Seeded(11).floats(dtype, -0.125, 0.125, rows, DEPTH);
    }

    /** {@code y = x dequantize(w)}. */
    public Graph graph() {
        return GraphBuilder.build("product", g -> {
            Seeded random = new Seeded(7);
            long least = q == DType.I8 ? -128 : q == DType.I4 ? -8 : 0;
            long most = least + (q.bits() == 8 ? 255 : 15);
            List<Value> operands = new ArrayList<>(List.of(
                    g.constant(random.integers(q, least, most, sizes(DEPTH)).toConstant()),
                    g.constant(small(random.floats(dtype, 1, 2, scales())).toConstant())));
            if (zeroPoint) {
                operands.add(
                        g.constant(random.integers(q, least, most, scales()).toConstant()));
            }
            int axis = (block > 0) == transposed ? 1 : 0;
            Dequantize op = new Dequantize(axis, Math.max(0, block), zeroPoint);
            Value w = g.add("", op, operands).getFirst();
            Value x = g.input("x", TensorType.of(dtype, rows, DEPTH));
            MatMul product = new MatMul(false, transposed, Epilogue.NONE);
            g.output("y", g.add("", product, List.of(x, w)).getFirst());
        });
    }

    /** Scales for which the weight is about 1. */
    private NdArray small(NdArray scales) {
        for (int i = 0; i < scales.size(); i++) {
            scales.set(i, Math.scalb(scales.get(i), -q.bits()));
        }
        return scales;
    }

    /** Runs the graph on an engine, compares with the interpreter, and returns the reports of its steps. */
    public List<StepReport> check(Engine engine) {
        return run(engine, graph());
    }

    /** The same for a weight with a scale for each index of the sum, which is written out. */
    public static List<StepReport> checkRefused(Engine engine) {
        Graph refused = GraphBuilder.build("refused", g -> {
            Seeded random = new Seeded(9);
            NdArray q = random.integers(DType.I8, -128, 127, DEPTH, COLUMNS);
            NdArray scale = random.floats(DType.F32, 0.0625, 0.125, DEPTH);
            List<Value> operands = List.of(g.constant(q.toConstant()), g.constant(scale.toConstant()));
            Value w = g.add("", new Dequantize(0, 0, false), operands).getFirst();
            Value x = g.input("x", TensorType.of(DType.F32, 3, DEPTH));
            g.output("y", g.add("", MatMul.plain(), List.of(x, w)).getFirst());
        });
        return new DequantizedProducts(3, DType.I8, DType.F32, false, 0, false).run(engine, refused);
    }

    private List<StepReport> run(Engine engine, Graph graph) {
        NdArray x = x();
        Tensor tensor = Tensor.zeros(x.type());
        x.write(tensor.segment());
        NdArray expected = Interpreter.run(graph, Map.of("x", x)).get("y");
        CompileOptions strict = CompileOptions.defaults().withPrecision(Precision.STRICT);
        try (CompiledModel model = engine.compile(graph, Weights.none(), strict);
                Session session = model.newSession()) {
            Tensor actual = session.run(Map.of("x", tensor)).get("y");
            List<StepReport> steps = model.report().plans().stream()
                    .flatMap(plan -> plan.steps().stream())
                    .toList();
            Tolerance.of(dtype, DEPTH)
                    .check(this + " " + steps, expected, NdArray.read(expected.type(), actual.segment()));
            return steps;
        }
    }

    private long[] sizes(long depth) {
        return transposed ? new long[] {COLUMNS, depth} : new long[] {depth, COLUMNS};
    }

    private long[] scales() {
        if (block < 0) {
            return new long[0];
        }
        return block == 0 ? new long[] {COLUMNS} : sizes(Math.ceilDiv(DEPTH, block));
    }
}
