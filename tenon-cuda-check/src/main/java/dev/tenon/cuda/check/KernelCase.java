package dev.tenon.cuda.check;

import java.util.function.Consumer;

/**
 * A check of one kernel on one problem.
 *
 * @param kernel the family, {@code softmax}
 * @param what the problem, {@code f32 [3,781]}
 * @param heavy whether it is too much for an emulator
 * @param check runs it; throws an AssertionError that names the first wrong element
 */
public record KernelCase(String kernel, String what, boolean heavy, Consumer<KernelStage> check) {
    public KernelCase(String kernel, String what, Consumer<KernelStage> check) {
        this(kernel, what, false, check);
    }

    @Override
    public String toString() {
        return kernel + " " + what;
    }
}
