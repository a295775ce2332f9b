package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelCases;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Kernel cases, checked: all with the id of a handed case, all functions of one number, products of random shapes by
 * each of our kernels and each tile, of which every fifth, and every {@code STRIDE}th of the others; all of them with
 * {@code -Dtenon.emulator.all=true} or by {@code tenon kernels run --device emulator}.
 */
class KernelCasesTest {
    private static final int STRIDE = 41;
    /** Each has a tile and transposes that are compiled for it alone. */
    private static final int TILE_STRIDE = 5;

    private static final Pattern HANDED = Pattern.compile("[A-Z]{2}-\\d\\d");

    @Test
    void casesPass() {
        Harness.require();
        int stride = Boolean.getBoolean("tenon.emulator.all") ? 1 : STRIDE;
        Map<String, List<KernelCase>> kernels = new TreeMap<>();
        int others = 0;
        int wanted = 0;
        int drawn = 0;
        for (KernelCase one : KernelCases.all()) {
            boolean tiled = one.kernel().equals("matmul_wmma") && one.what().startsWith("drawn ");
            if (EmulatedStages.leavesOut(one) || (tiled && stride > 1 && drawn++ % TILE_STRIDE != 0)) {
                continue;
            }
            if (isWanted(one) || (!one.heavy() && others++ % stride == 0)) {
                kernels.computeIfAbsent(variant(one), _ -> new ArrayList<>()).add(one);
                wanted++;
            }
        }
        List<String> faults = EmulatedStages.check(kernels, (_, one, stage) -> stage.run(one));
        System.out.println("kernel cases on the emulator: " + wanted + " of " + kernels.size() + " kernels and types");
        assertThat(faults).isEmpty();
    }

    /** What cases share that are compiled together: two stages need not compile the same. */
    private static String variant(KernelCase one) {
        return EmulatedStages.type(one)
                .map(type -> one.kernel() + " of " + type)
                .orElse(one.kernel());
    }

    private static boolean isWanted(KernelCase one) {
        boolean handed = !one.heavy() && HANDED.matcher(one.what()).find();
        boolean product = one.what().startsWith("drawn ") || one.what().contains("wrong counts");
        return handed || product || one.kernel().equals("unary");
    }
}
