package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.tenon.core.error.DeviceLostException;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.LaunchShape;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a kernel must not do comes back as an error that names kernel, block, thread and line, at once, and the JVM goes
 * on (EU-01).
 */
class FaultsTest {
    private static final String FILE = "faults.cu";
    private static final LaunchShape WARP = LaunchShape.of(1, 32);
    private static final LaunchShape TWO_WARPS = LaunchShape.of(1, 64);

    @BeforeAll
    static void compileOnce() {
        Harness.require();
        Harness.image(FILE, true);
        Harness.image(FILE, false);
    }

    private static EmulatorOptions options() {
        return Harness.options(true).withPatience(Duration.ofMillis(600), Duration.ofMillis(300));
    }

    private static String fault(String kernel, LaunchShape shape, Object... more) {
        return fault(options(), kernel, shape, more);
    }

    /** Runs a kernel on a buffer of 32 or 64 floats of value 0, which must fail. */
    private static String fault(EmulatorOptions options, String kernel, LaunchShape shape, Object... more) {
        try (Harness harness = new Harness(FILE, options)) {
            DeviceBuffer y = harness.upload(new float[shape.threads()]);
            Object[] arguments = new Object[more.length + 1];
            arguments[0] = y;
            System.arraycopy(more, 0, arguments, 1, more.length);
            return assertTimeout(Duration.ofSeconds(2), () -> failing(harness, kernel, shape, arguments));
        } finally {
            theJvmIsWell();
        }
    }

    private static String failing(Harness harness, String kernel, LaunchShape shape, Object... arguments) {
        harness.launch(kernel, shape, arguments);
        String[] message = new String[1];
        assertThatThrownBy(harness.stream::synchronize)
                .isInstanceOf(DeviceLostException.class)
                .satisfies(e -> message[0] = e.getMessage());
        assertThat(harness.context.healthy()).isFalse();
        assertThatThrownBy(() -> harness.context.allocate(4)).isInstanceOf(DeviceLostException.class);
        return message[0];
    }

    @SuppressWarnings("NullAway")
    private static void theJvmIsWell() {
        String nothing = System.getProperty("dev.tenon.surely.not.set");
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> nothing.length()).isInstanceOf(NullPointerException.class);
        }
    }

    @Test
    @DisplayName("EU-01 (a): a read past the end before a barrier ends the launch")
    void aReadPastTheEndBeforeABarrier() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer x = harness.upload(new float[32]);
            DeviceBuffer y = harness.upload(new float[32]);
            assertThat(failing(harness, "read_past_end", WARP, x, y, 32))
                    .contains("kernel read_past_end", "illegal address: a read of 4 bytes")
                    .contains("0 bytes past the end of the buffer of 128 bytes")
                    .contains("block (0,0,0), thread (5,0,0)")
                    .contains("faults.cu:" + Harness.line(FILE, "read_past_end"));
        }
        theJvmIsWell();
    }

    @Test
    void barriersBehindAndBetweenBranchesAreOneForAllThreads() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer y = harness.upload(new float[33]);
            harness.run("barrier_between_branches", WARP, y);
            assertThat(harness.floats(y)[0]).isEqualTo(2f);
            assertThat(harness.floats(y)[31]).isEqualTo(2f);
        }
    }

    @Test
    @DisplayName("EU-01 (b): threads that return do not count at barriers")
    void threadsThatReturnDoNotCountAtBarriers() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer y = harness.upload(new float[32]);
            harness.run("leave_early", WARP, y, 20);
            assertThat(harness.floats(y)[19]).isEqualTo(19f);
            assertThat(harness.floats(y)[20]).isZero();
        }
    }

    @DisplayName("EU-01 (c) and (d): divergent barriers are told")
    @ParameterizedTest
    @CsvSource({
        "barrier_in_branch",
        "barrier_in_odd_threads",
        "barrier_in_both_branches",
        "barriers_on_one_line",
        "barrier_in_a_function",
        "barrier_in_uneven_loop"
    })
    void divergentBarriers(String kernel) {
        assertThat(fault(kernel, WARP))
                .contains("divergent barrier", "kernel " + kernel, "faults.cu:" + Harness.line(FILE, kernel));
    }

    @ParameterizedTest
    @CsvSource({
        "mask_without_itself, leaves it out",
        "masks_disagree, divergent warp collective",
        "reads_absent_lane, reads lane"
    })
    void divergentCollectives(String kernel, String what) {
        LaunchShape shape = kernel.equals("reads_absent_lane") ? LaunchShape.of(1, 16) : WARP;
        assertThat(fault(kernel, shape)).contains(what, "faults.cu:" + Harness.line(FILE, kernel));
    }

    @Test
    void aDeadlockNamesAllPlaces() {
        assertThat(fault("deadlock", WARP))
                .contains("deadlock", "31 threads wait at the barrier", "1 thread waits at the warp collective")
                .contains("mask 0xffffffff", "faults.cu:" + Harness.line(FILE, "deadlock"));
    }

    @Test
    void accessesOutsideOfBuffers() {
        assertThat(fault("write_past_end", WARP, 32))
                .contains("a write of 4 bytes", "28 bytes past the end", "thread (7,0,0)")
                .contains("faults.cu:" + Harness.line(FILE, "write_past_end"));
        assertThat(fault("write_past_end", WARP, -40)).contains("bytes before the buffer of 128 bytes");
        assertThat(fault("write_null", WARP)).contains("illegal address", "near null");
    }

    @Test
    void useAfterFree() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer x = harness.upload(new float[33]);
            DeviceBuffer y = harness.upload(new float[32]);
            harness.arguments.clear().add(x).add(y).add(32);
            harness.stream.synchronize();
            x.close();
            harness.stream.launch(harness.module.function("read_past_end"), WARP, harness.arguments);
            assertThatThrownBy(harness.stream::synchronize)
                    .isInstanceOf(DeviceLostException.class)
                    .hasMessageContaining("in a buffer of 132 bytes")
                    .hasMessageContaining("that was freed");
        }
    }

    @Test
    void accessesOutsideOfSharedMemory() {
        assertThat(fault("index_past_array", WARP, 32)).contains("out of bounds");
        assertThat(fault("past_static_shared", WARP, 5000)).contains("illegal address", "static shared memory");
        assertThat(fault("past_dynamic_shared", WARP.withSharedBytes(128), 32))
                .contains("offset 128 of the dynamic shared memory, which has 128 bytes");
        assertThat(fault("past_dynamic_shared", WARP, 0)).contains("of which the launch has none");
    }

    @Test
    void uninitialisedSharedMemory() {
        assertThat(fault("uninitialised_shared", WARP))
                .contains("uninitialised shared memory", "offset", "thread (31,0,0)")
                .contains("faults.cu:" + Harness.line(FILE, "uninitialised_shared"));
        assertThat(fault("uninitialised_dynamic", WARP.withSharedBytes(32))).contains("of the dynamic shared memory");
    }

    @Test
    void misalignment() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer x = harness.upload(new float[64]);
            DeviceBuffer y = harness.upload(new float[32]);
            assertThat(failing(harness, "misaligned_float4", WARP, x, y))
                    .contains("misaligned address", "faults.cu:" + Harness.line(FILE, "misaligned_float4"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "race_write_read, a read after a write",
        "race_write_write, a write after a write",
        "race_read_write, a write after a read",
        "warp_is_no_block, uninitialised"
    })
    void races(String kernel, String what) {
        assertThat(fault(kernel, TWO_WARPS)).contains(what, "faults.cu:" + Harness.line(FILE, kernel));
    }

    @Test
    void neighbouringBytesAreNoRace() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer y = harness.context.allocate(64);
            harness.run("neighbours_in_bytes", TWO_WARPS, y);
            assertThat(harness.ints(y)[0]).isEqualTo(0x02030001);
        }
    }

    @Test
    void endlessWaits() {
        assertThat(fault("spin_on_other_block", LaunchShape.of(4, 32))).contains("endless wait", "block (0,0,0)");
        assertThat(fault("spin_volatile", LaunchShape.of(1, 1))).contains("endless wait");
        EmulatorOptions unchecked = options().withChecked(false);
        assertThat(fault(unchecked, "spin_on_other_block", LaunchShape.of(4, 32)))
                .contains("endless wait");
    }

    @Test
    void endlessLoops() {
        assertThat(fault("endless_loop", LaunchShape.of(1, 1), 0)).contains("endless loop", "faults.cu:");
        assertThat(fault(options().withChecked(false), "endless_loop", LaunchShape.of(1, 1), 0))
                .contains("endless loop");
    }

    @Test
    void integerDivision() {
        assertThat(fault("divide", WARP, 1, 0))
                .contains("division by zero", "faults.cu:" + Harness.line(FILE, "divide"));
        assertThat(fault(options().withChecked(false), "divide", WARP, 1, 0)).contains("division by zero");
        assertThat(fault("divide", WARP, Integer.MIN_VALUE, -1)).contains("of the least number by -1");
    }

    @Test
    void traps() {
        assertThat(fault("trap", WARP, 0)).contains("trap", "faults.cu:" + Harness.line(FILE, "trap"));
    }

    @Test
    void pendingCopies() {
        try (Harness harness = new Harness(FILE, options())) {
            DeviceBuffer x = harness.upload(new float[128]);
            DeviceBuffer y = harness.upload(new float[32]);
            assertThat(failing(harness, "read_before_wait", WARP, x, y))
                    .contains("pending copy", "faults.cu:" + Harness.line(FILE, "read_before_wait"));
        }
    }

    @Test
    void meetingsNeedACooperativeLaunch() {
        assertThat(fault("meet_without_cooperation", LaunchShape.of(2, 32)))
                .contains("meeting of 2 blocks: the launch is not cooperative");
    }

    @Test
    void hostFaultsOfUncheckedKernels() {
        EmulatorOptions unchecked = options().withChecked(false);
        assertThat(fault(unchecked, "write_null", WARP)).contains("illegal address", "near null");
        assertThat(fault(unchecked, "overflow_stack", LaunchShape.of(1, 1), 1000))
                .contains("stack overflow");
    }

    @Test
    void aNewContextWorksAfterAFault() {
        EmulatorDriver driver = new EmulatorDriver(options());
        try (var lost = driver.open(0);
                var stream = lost.newStream();
                Harness harness = new Harness(FILE, options())) {
            harness.arguments.clear().add(0L);
            stream.launch(
                    Harness.load(lost, Harness.image(FILE, true)).function("write_null"), WARP, harness.arguments);
            assertThatThrownBy(stream::synchronize).isInstanceOf(DeviceLostException.class);
            assertThat(lost.healthy()).isFalse();
            try (var fresh = driver.open(0)) {
                assertThat(fresh.healthy()).isTrue();
                fresh.allocate(64).close();
            }
        }
    }
}
