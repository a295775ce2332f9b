package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.UnaryFn;
import org.junit.jupiter.api.Test;

/** The numbers of types and functions are those that the headers state. */
class CodesTest {
    @Test
    void typesAndFunctionsOfTwoNumbers() {
        for (DType type : DType.values()) {
            if (TypeCodes.has(type)) {
                states("types.cuh", "TYPE_" + type.name(), TypeCodes.of(type));
            }
        }
        for (BinaryFn fn : BinaryFn.values()) {
            states("binary_fn.cuh", "FN_" + fn.name(), BinaryCodes.of(fn));
        }
        for (CompareFn fn : CompareFn.values()) {
            states("binary_fn.cuh", "FN_" + fn.name(), BinaryCodes.of(fn));
        }
        states("binary_fn.cuh", "FN_NOT", BinaryCodes.of(UnaryFn.NOT));
        states("binary_fn.cuh", "FN_BIT_NOT", BinaryCodes.of(UnaryFn.BIT_NOT));
    }

    private static void states(String header, String name, int code) {
        assertThat(KernelSources.headers().get(header)).contains("constexpr int " + name + " = " + code + ";");
    }
}
