package dev.tenon.cli.machine;

import dev.tenon.cuda.compile.KernelCompilers;
import dev.tenon.cuda.compile.Prebuilt;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.ArrayList;
import java.util.List;

/** Where the kernels of a GPU come from: the chain of compilers, in the order in which they are asked. */
final class CompilerChecks {
    private CompilerChecks() {}

    static List<Check> of(KernelCompilers chain) {
        List<Check> checks = new ArrayList<>();
        checks.add(new Check("kernel compiler", chain.unavailable().isEmpty(), summary(chain)));
        int number = 1;
        for (KernelCompiler compiler : chain.compilers()) {
            boolean there = compiler.unavailable().isEmpty();
            checks.add(new Check(
                    "kernel compiler " + number++,
                    there,
                    there ? compiler.name() + architectures(compiler) : compiler.unavailable()));
        }
        return checks;
    }

    private static String summary(KernelCompilers chain) {
        List<KernelCompiler> there = chain.compilers().stream()
                .filter(compiler -> compiler.unavailable().isEmpty())
                .toList();
        if (there.isEmpty()) {
            return "none: a GPU cannot be used";
        }
        if (there.stream().allMatch(Prebuilt.class::isInstance)) {
            return there.getFirst().name() + "; nothing compiles, so fused elementwise expressions are interpreted";
        }
        return there.getFirst().name()
                + (there.size() == 1 ? "" : ", then the next below for what it has no image for");
    }

    private static String architectures(KernelCompiler compiler) {
        return " for "
                + String.join(
                        ", ",
                        compiler.architectures().stream().map(Object::toString).toList());
    }
}
