package dev.tenon.cuda.kernel.file;

import java.util.List;

/**
 * An entry of a kernel file: its name without suffix, and its parameters.
 *
 * @param file path of the source under the kernels' root, {@code softmax/softmax_warp.cu}
 * @param entry the name without the variant's suffix
 * @param parameters in order
 */
public record KernelSpec(String file, String entry, List<ParameterType> parameters) {
    public KernelSpec {
        parameters = List.copyOf(parameters);
    }

    public String nameIn(KernelVariant variant) {
        return entry + variant.suffix();
    }
}
