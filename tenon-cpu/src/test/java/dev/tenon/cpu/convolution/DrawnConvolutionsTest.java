package dev.tenon.cpu.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Value;
import dev.tenon.core.testkit.DrawnConvolutions;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.cpu.CpuRun;
import dev.tenon.cpu.device.CpuBackend;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Convolutions with every attribute drawn, against float64. Faults are gathered. */
class DrawnConvolutionsTest {
    @Test
    void agreeWithTheReference() {
        List<String> faults = new ArrayList<>();
        int ran = 0;
        int claimed = 0;
        try (CpuRun three = new CpuRun(3)) {
            for (int seed = 0; seed < DrawnConvolutions.count(); seed++) {
                OpCase one = DrawnConvolutions.of(seed);
                boolean primitive = one.op() instanceof Primitive;
                if (!primitive && !isClaimed(one)) {
                    continue;
                }
                ran++;
                claimed += primitive ? 0 : 1;
                try {
                    if (primitive) {
                        one.verify(
                                three.run(one.op(), one.inputs(), one.inputs().size()));
                    }
                    one.verify(three.run(one.op(), one.inputs(), 1));
                } catch (AssertionError | RuntimeException e) {
                    faults.add(one.name() + ": " + e.getMessage());
                }
            }
        }
        System.out.println("drawn convolutions on the CPU: " + ran + ", channels innermost: " + claimed);
        assertThat(faults).isEmpty();
        assertThat(ran).isGreaterThan(DrawnConvolutions.count() / 2);
        assertThat(claimed).isPositive();
    }

    private static boolean isClaimed(OpCase one) {
        Graph graph = GraphBuilder.build("claim", g -> {
            List<Value> values = new ArrayList<>();
            for (NdArray input : one.inputs()) {
                values.add(values.isEmpty() ? g.input("x", input.type()) : g.constant(input.toConstant()));
            }
            g.output("y", g.add("node", one.op(), values).getFirst());
        });
        return new CpuBackend().claims(graph.nodes().getLast());
    }
}
