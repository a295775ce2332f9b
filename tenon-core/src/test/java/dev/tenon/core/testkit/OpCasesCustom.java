package dev.tenon.core.testkit;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.custom.CustomOp;
import dev.tenon.core.ir.op.custom.DeviceBody;
import dev.tenon.core.ir.op.custom.DeviceLaunch;
import dev.tenon.core.ir.op.custom.DeviceSource;
import dev.tenon.core.ir.op.custom.HostBody;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Operations that a program defines: with and without a body, of one and two results, through a workspace. */
public final class OpCasesCustom {
    private static final String SOURCE = """
            #include "tenon.cuh"

            extern "C" __global__ void TENON_NAME(halve)(const float* x, float* half, i64 n, void* faults, int step) {
                for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
                    if (x[i] < 0.0f) report_fault(faults, step, i);
                    half[i] = x[i] * FACTOR;
                }
            }
            TENON_ENTRY(halve)

            extern "C" __global__ void TENON_NAME(both)(const float* half, float* a, i32* b, i64 n, float shift, double grow) {
                for (i64 i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
                    a[i] = half[i] + shift;
                    b[i] = static_cast<i32>(half[i] * grow);
                }
            }
            TENON_ENTRY(both)
            """;

    private OpCasesCustom() {}

    /** a = x / 2 + shift, b = trunc(x), of x >= 0; [x f32] → [a f32, b i32]. */
    public record HalfAndWhole(float shift, boolean hasHostBody, boolean hasDeviceBody, String source)
            implements CustomOp {
        public HalfAndWhole(float shift, boolean hasHostBody) {
            this(shift, hasHostBody, true, SOURCE);
        }

        @Override
        public String name() {
            return "half_and_whole";
        }

        @Override
        public Arity arity() {
            return Arity.exactly(1);
        }

        @Override
        public List<DType> dtypes(List<DType> inputs) {
            return List.of(DType.F32, DType.I32);
        }

        @Override
        public List<Shape> shapes(List<Shape> inputs) {
            return List.of(inputs.getFirst(), inputs.getFirst());
        }

        @Override
        public List<NdArray> evaluate(List<NdArray> inputs) {
            NdArray x = inputs.getFirst();
            NdArray a = NdArray.zeros(new TensorType(DType.F32, x.shape()));
            NdArray b = NdArray.zeros(new TensorType(DType.I32, x.shape()));
            for (int i = 0; i < x.size(); i++) {
                if (x.get(i) < 0) {
                    throw new DataException(name() + ": " + fault(i));
                }
                a.set(i, x.get(i) / 2 + shift);
                b.set(i, (long) x.get(i));
            }
            return List.of(a, b);
        }

        @Override
        public Optional<HostBody> hostBody(List<TensorType> inputs, List<TensorType> results) {
            HostBody.Loop loop = this::run;
            return hasHostBody
                    ? Optional.of(new HostBody(inputs.getFirst().shape().elements(), 4, loop))
                    : Optional.empty();
        }

        private void run(List<MemorySegment> inputs, List<MemorySegment> results, long from, long to) {
            for (long i = from; i < to; i++) {
                float x = inputs.getFirst().getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i);
                results.get(0).setAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i, x / 2 + shift);
                results.get(1).setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, (int) x);
            }
        }

        @Override
        public Optional<DeviceBody> deviceBody(String language, List<TensorType> inputs, List<TensorType> results) {
            if (!hasDeviceBody || !language.equals(DeviceSource.CUDA)) {
                return Optional.empty();
            }
            long elements = inputs.getFirst().shape().elements();
            return Optional.of(new DeviceBody(
                    DeviceSource.of("half_and_whole.cu", source).define("FACTOR=0.5f"),
                    List.of(
                            DeviceLaunch.over("halve", elements)
                                    .input(0)
                                    .workspace(0)
                                    .number(elements)
                                    .faults(),
                            DeviceLaunch.over("both", elements)
                                    .workspace(0)
                                    .result(0)
                                    .result(1)
                                    .number(elements)
                                    .number(shift)
                                    .number(2.0)),
                    elements * Float.BYTES));
        }

        @Override
        public String fault(long value) {
            return "element " + value + " is negative";
        }
    }

    static List<OpCase> all() {
        List<OpCase> cases = new ArrayList<>();
        Seeded random = new Seeded(61);
        for (boolean body : new boolean[] {true, false}) {
            for (long size : new long[] {0, 1, 33, 1009}) {
                cases.add(OpCase.close(
                        "half_and_whole of " + size + (body ? " by its body" : " by its reference"),
                        new Custom(new HalfAndWhole(0.25f, body)),
                        random.floats(DType.F32, 0, 100, size)));
            }
        }
        return cases;
    }
}
