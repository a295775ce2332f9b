package dev.tenon.cpu.matmul;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.Value;
import dev.tenon.core.testkit.Seeded;
import dev.tenon.cpu.CpuRun;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Products of few rows and of many whose results lie at one address, one after the other. */
class ReusedMemoryTest {
    private static final int N = 64;

    private static Value product(GraphBuilder g, Value x, int seed) {
        NdArray w = new Seeded(seed).floats(DType.F32, -0.2, 0.2, N, N);
        return g.matmul(x, g.constant(w.toConstant()));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 5, 16})
    void ofAnotherNumberOfRows(int rows) {
        Graph graph = GraphBuilder.build("rows", g -> {
            Value x = g.input("x", TensorType.of(DType.F32, rows, N));
            Value few = product(g, product(g, x, 1), 2);
            Value many = g.concat(Collections.nCopies(7, few), 0);
            for (int seed = 3; seed < 6; seed++) {
                many = product(g, many, seed);
            }
            g.output("y", many);
        });
        NdArray x = new Seeded(rows).floats(DType.F32, -1, 1, rows, N);
        NdArray wanted = Interpreter.run(graph, Map.of("x", x)).get("y");
        try (CpuRun run = new CpuRun(2)) {
            NdArray found = run.run(graph, List.of(x)).getFirst();
            Tolerance.of(DType.F32, 5 * N).check("products of " + rows + " rows", wanted, found);
        }
    }
}
