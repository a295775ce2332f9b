package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cuda.check.TensorChecks;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sums of sessions' tensors over two emulated devices' memory: all is real but NCCL, which only joins the ranks. */
class TensorCollectivesTest {
    @TempDir
    static Path folder;

    private static NcclStandIn standIn;

    @BeforeAll
    static void build() throws Exception {
        Harness.require();
        standIn = NcclStandIn.build(folder);
    }

    @Test
    void promises() throws Exception {
        String said = standIn.run(Promises.class, Map.of());
        TensorChecks.all().forEach(check -> assertThat(said).contains("kept: " + check.name()));
    }

    /** The child. */
    static final class Promises {
        private Promises() {}

        public static void main(String[] arguments) {
            for (TensorChecks.Check check : TensorChecks.all()) {
                check.body().run("emulator", 2);
                System.out.println("kept: " + check.name());
            }
        }
    }
}
