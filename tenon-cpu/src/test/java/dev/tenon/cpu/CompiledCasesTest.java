package dev.tenon.cpu;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Value;
import dev.tenon.core.runtime.CompiledModel;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * The cases of operations that backends never see, compiled: decomposed, resolved between the stages of a plan, driven
 * as loops; with inputs given by the run and with constants.
 */
class CompiledCasesTest {
    private static final Engine RUNTIME = Engine.open(Target.cpu());

    @AfterAll
    static void close() {
        RUNTIME.close();
    }

    @TestFactory
    Stream<DynamicTest> agreesWithTheReference() {
        return OpCases.all().stream()
                .filter(opCase -> !(opCase.op() instanceof Primitive))
                .map(opCase -> DynamicTest.dynamicTest(opCase.name(), () -> {
                    opCase.verify(run(opCase, opCase.inputs().size()));
                    opCase.verify(run(opCase, 0));
                }));
    }

    private static List<NdArray> run(OpCase opCase, int firstConstant) {
        Map<String, Tensor> given = new LinkedHashMap<>();
        Graph graph = GraphBuilder.build("case", g -> {
            List<Value> operands = new ArrayList<>();
            for (NdArray input : opCase.inputs()) {
                String name = "x" + operands.size();
                if (operands.size() >= firstConstant) {
                    operands.add(g.constant(input.toConstant()));
                    continue;
                }
                operands.add(g.input(name, input.type()));
                Tensor tensor = Tensor.zeros(input.type());
                input.write(tensor.segment());
                given.put(name, tensor);
            }
            List<Value> results = g.add("it", opCase.op(), operands);
            for (int i = 0; i < results.size(); i++) {
                g.output("y" + i, results.get(i));
            }
        });
        try (CompiledModel model = RUNTIME.compile(graph);
                Session session = model.newSession()) {
            return session.run(given).values().stream()
                    .map(tensor -> NdArray.read(tensor.type(), tensor.segment()))
                    .toList();
        }
    }
}
