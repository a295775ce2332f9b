package dev.tenon.cpu.convolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.Primitive;
import dev.tenon.core.testkit.DrawnConvolutions;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.cpu.CpuRun;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Convolutions with every attribute drawn, against float64. Faults are gathered. */
class DrawnConvolutionsTest {
    @Test
    void agreeWithTheReference() {
        List<String> faults = new ArrayList<>();
        int ran = 0;
        try (CpuRun three = new CpuRun(3)) {
            for (int seed = 0; seed < DrawnConvolutions.count(); seed++) {
                OpCase one = DrawnConvolutions.of(seed);
                if (!(one.op() instanceof Primitive)) {
                    continue; // channels innermost are not claimed here
                }
                ran++;
                try {
                    one.verify(three.run(one.op(), one.inputs(), one.inputs().size()));
                    one.verify(three.run(one.op(), one.inputs(), 1));
                } catch (AssertionError | RuntimeException e) {
                    faults.add(one.name() + ": " + e.getMessage());
                }
            }
        }
        System.out.println("drawn convolutions on the CPU: " + ran);
        assertThat(faults).isEmpty();
        assertThat(ran).isGreaterThan(DrawnConvolutions.count() / 2);
    }
}
