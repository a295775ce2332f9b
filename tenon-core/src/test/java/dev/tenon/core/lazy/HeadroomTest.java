package dev.tenon.core.lazy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.testkit.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HeadroomTest {
    /** A JVM whose small heap is full at first, and then is not. */
    public static final class FullHeap {
        private FullHeap() {}

        public static void main(String[] none) {
            Headroom.require("a first use"); // what the check itself needs is linked
            List<byte[]> all = new ArrayList<>();
            String refused = "nothing refused";
            try {
                while (true) {
                    all.add(new byte[1 << 20]);
                }
            } catch (OutOfMemoryError _) {
                all.removeLast(); // a little room, less than is asked for
            }
            boolean there = Headroom.there();
            try {
                Headroom.require("planning");
            } catch (OutOfMemoryException e) {
                refused = e.getMessage();
            }
            int held = all.size();
            all.clear();
            System.out.println("held " + (held > 0) + ", there " + there + ", after " + Headroom.there());
            System.out.println(refused);
        }
    }

    @Test
    void heapWithRoomToSpareIsEnough() {
        Headroom.require("a test");
        assertThat(Headroom.there()).isTrue();
    }

    @Test
    void fullHeapIsAnExceptionThatNamesWhatNeedsItAndPasses() throws Exception {
        ChildJvm.Result result = ChildJvm.run(FullHeap.class, Map.of("JAVA_TOOL_OPTIONS", "-Xmx32m"));
        assertThat(result.code()).as(result.out()).isZero();
        assertThat(result.out())
                .contains("held true, there false, after true")
                .contains("planning: the Java heap has less than 6 MiB to spare")
                .contains("-Xmx");
    }
}
