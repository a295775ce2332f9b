package dev.tenon.cpu;

import dev.tenon.core.testkit.OpCase;
import dev.tenon.core.testkit.OpCases;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.LoopsTest;
import dev.tenon.cpu.loops.Vectors;
import java.util.List;

/**
 * The main class of {@link JvmFlagsTest}: every thirtieth case, kernels chosen as in production, then the kernels' own
 * lengths; prints what ran.
 */
final class CasesInAnotherJvm {
    private CasesInAnotherJvm() {}

    public static void main(String[] arguments) {
        int done = 0;
        List<OpCase> all = OpCases.all();
        for (int i = 0; i < all.size(); i += 30) {
            if (OpCasesTest.hasStep(all.get(i))) {
                OpCasesTest.check(all.get(i));
                done++;
            }
        }
        for (int round = 0; round < 50; round++) {
            new LoopsTest().everyLengthAndShift(Loops.current());
        }
        System.out.println(done + " cases agree, vectors " + Vectors.available());
        System.exit(0); // with a warm-up thread and workers alive
    }
}
