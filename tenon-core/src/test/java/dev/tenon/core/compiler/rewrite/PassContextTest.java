package dev.tenon.core.compiler.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import java.util.List;
import org.junit.jupiter.api.Test;

class PassContextTest {
    /** Claims every node, of operations that it may claim. */
    private record Some(boolean may) implements Claims {
        @Override
        public boolean mayClaim(Class<? extends Op> kind) {
            return may;
        }

        @Override
        public boolean test(Node node) {
            return true;
        }
    }

    private static boolean claims(Claims claims, long inner) {
        boolean[] answer = new boolean[1];
        Graph _ = GraphBuilder.build("claims", g -> {
            List<Value> operands = List.of(
                    g.input("a", TensorType.of(DType.F32, 2, 3)), g.input("b", TensorType.of(DType.F32, inner, 4)));
            answer[0] = new PassContext(claims, null).claims(new MatMul(false, false, Epilogue.NONE), operands);
            g.output("y", operands.getFirst());
        });
        return answer[0];
    }

    @Test
    void nodesAreBuiltToAskAboutOperationsThatMayBeClaimed() {
        assertThat(claims(new Some(true), 3)).isTrue();
        assertThatThrownBy(() -> claims(new Some(true), 5)).isInstanceOf(TenonException.class);
    }

    @Test
    void otherOperationsAreNotBuilt() {
        assertThat(claims(new Some(false), 3)).isFalse();
        assertThat(claims(new Some(false), 5)).isFalse();
    }
}
