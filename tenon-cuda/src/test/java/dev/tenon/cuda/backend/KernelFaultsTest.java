package dev.tenon.cuda.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.backend.Program;
import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.compiler.CompilerOptions;
import dev.tenon.core.compiler.Plan;
import dev.tenon.core.error.NativeException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.movement.Transpose;
import dev.tenon.core.ir.op.normalisation.Softmax;
import dev.tenon.core.options.CompileOptions;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.port.FakeGpu;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

/** Kernels are compiled when all steps are made; what fails still names the node that wants it. */
class KernelFaultsTest {
    private final Set<String> compiled = new ConcurrentSkipListSet<>();

    private static Plan plan() {
        TensorType type = TensorType.of(DType.F32, 33, 65);
        Graph graph = GraphBuilder.build("two", g -> {
            Value turned = g.add("turn", new Transpose(List.of(1, 0)), List.of(g.input("x", type)))
                    .getFirst();
            g.output("y", g.add("soft", new Softmax(1), List.of(turned)).getFirst());
        });
        Compiler compiler = new Compiler(CompilerOptions.defaults(), node -> false);
        return compiler.plan(compiler.prepare(graph, Map.of()), Map.of("x", type), Map.of())
                .plan();
    }

    /** A program of two nodes, by a compiler that fails where a file's name contains a word. */
    private Program program(String word, TenonException fault) {
        Device device = GpuDevice.open(
                FakeGpu.platform(FakeGpu.compiler(source -> {
                    compiled.add(source.name());
                    if (source.name().contains(word)) {
                        throw fault;
                    }
                })),
                0,
                EngineOptions.defaults());
        return device.compile(plan(), device.newConstants(), CompileOptions.defaults());
    }

    @Test
    void everyStepGetsItsKernel() {
        assertThat(program("nothing", new NativeException("")).steps()).hasSize(2);
        assertThat(compiled).containsExactly("movement/transpose.cu", "softmax/softmax_warp.cu");
    }

    @Test
    void aSourceThatDoesNotCompileNamesTheNode() {
        assertThatThrownBy(() -> program("softmax", new NativeException("line 7")))
                .isInstanceOf(NativeException.class)
                .hasMessageContainingAll("line 7", "\"soft\"");
        assertThatThrownBy(() -> program("transpose", new NativeException("line 8")))
                .isInstanceOf(NativeException.class)
                .hasMessageContainingAll("line 8", "\"turn\"");
    }

    @Test
    void aKernelWithoutCodeForTheDeviceIsForTheHost() {
        UnsupportedException fault = new UnsupportedException("no code for sm_90");
        boolean host = ServiceLoader.load(Backend.class).stream()
                .anyMatch(provider -> provider.get().name().equals("cpu"));
        if (host) {
            List<StepReport> steps = program("softmax", fault).steps();
            assertThat(steps.getFirst().tier()).contains("transpose");
            assertThat(steps.getLast().tier()).startsWith("host");
            assertThat(steps.getLast().passedOver()).containsExactly("no code for sm_90");
        } else {
            assertThatThrownBy(() -> program("softmax", fault))
                    .isInstanceOf(UnsupportedException.class)
                    .hasMessageContainingAll("no code for sm_90, and the CPU backend is not on the path", "\"soft\"");
        }
    }
}
