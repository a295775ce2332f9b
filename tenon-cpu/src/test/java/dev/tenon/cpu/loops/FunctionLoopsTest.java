package dev.tenon.cpu.loops;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.fn.UnaryFn;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What runs by its definition for want of a loop: a list that is to become shorter. */
class FunctionLoopsTest {
    @Test
    void functionsOfOneFloatWithoutLoops() {
        assertThat(Arrays.stream(UnaryFn.values())
                        .filter(fn -> !PlainElementwise.has(fn) && !VectorUnary.has(fn) && !fn.isTest()))
                .as("these take no floats")
                .containsExactlyInAnyOrder(UnaryFn.NOT, UnaryFn.BIT_NOT);
    }
}
