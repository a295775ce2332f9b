package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.testkit.DrawnConvolutions;
import dev.tenon.core.testkit.OpCase;
import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.StepRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Convolutions with every attribute drawn, their kernels checked, against float64. */
class DrawnConvolutionsTest {
    @Test
    void agreeWithTheReference() {
        Harness.require();
        Map<String, List<OpCase>> kinds = new TreeMap<>();
        int ran = 0;
        for (int seed = 0; seed < DrawnConvolutions.count(); seed++) {
            OpCase one = DrawnConvolutions.of(seed);
            if (!EmulatedStages.leavesOut("Conv", one.inputs().getFirst().dtype())) {
                kinds.computeIfAbsent(
                                one.op().getClass().getSimpleName() + " "
                                        + one.inputs().getFirst().dtype(),
                                _ -> new ArrayList<>())
                        .add(one);
                ran++;
            }
        }
        List<String> faults = EmulatedStages.check(kinds, (kind, one, stage) -> {
            StepRun steps = StepRun.withoutLibraries(stage);
            stage.run(new KernelCase(
                    kind,
                    one.name(),
                    _ -> one.verify(steps.run(one.op(), one.inputs()).outputs())));
        });
        System.out.println("drawn convolutions on the emulator: " + ran);
        assertThat(faults).isEmpty();
    }
}
