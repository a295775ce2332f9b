package dev.tenon.cuda.compile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ResourceReportTest {
    @Test
    void everyEntryOnceWithItsSpills() {
        String log = """
                a.cu(3): warning #177-D: variable "x" was declared but never referenced
                ptxas info    : 0 bytes gmem
                ptxas info    : Compiling entry function 'first_f32' for 'sm_90a'
                ptxas info    : Function properties for first_f32
                    128 bytes stack frame, 40 bytes spill stores, 44 bytes spill loads
                ptxas info    : Used 255 registers, used 1 barriers, 128 bytes cumulative stack size, 4096 bytes smem, 400 bytes cmem[0]
                ptxas info    : Compiling entry function 'second' for 'sm_90a'
                ptxas info    : Function properties for helper
                    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
                ptxas info    : Used 10 registers, used 0 barriers
                """;
        assertThat(ResourceReport.parse(log))
                .containsExactly(
                        new ResourceReport("first_f32", 255, 128, 40, 44, 4096),
                        new ResourceReport("second", 10, 0, 0, 0, 0));
        assertThat(ResourceReport.parse("")).isEmpty();
    }
}
