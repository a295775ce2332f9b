package dev.tenon.cuda.driver;

import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.compile.NvrtcCompiler;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuModule;
import dev.tenon.cuda.port.GpuStream;
import dev.tenon.cuda.port.ImageRejected;
import dev.tenon.cuda.port.KernelArguments;
import dev.tenon.cuda.port.KernelSource;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.testkit.RequiredGpus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assertions;

/**
 * A device with the kernels of these tests. Tests without one are skipped, counted, and fail instead where
 * {@code TENON_REQUIRE_GPU=1}.
 */
public final class Gpu implements AutoCloseable {
    static final String SOURCE = """
            #include "tenon.cuh"
            // y = a x + b
            extern "C" __global__ void axpb(const float* x, float* y, float a, float b, int n) {
                int i = blockIdx.x * blockDim.x + threadIdx.x;
                if (i < n) y[i] = a * x[i] + b;
            }
            extern "C" __global__ void set(float* y, float value, int n) {
                for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = value;
            }
            // one block; waits before it reads
            extern "C" __global__ void late_sum(const float* x, double* y, int n, i64 nanoseconds) {
                __shared__ double parts[256];
                i64 start, now;
                asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
                do { asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); } while (now - start < nanoseconds);
                double sum = 0;
                for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[i];
                parts[threadIdx.x] = sum;
                __syncthreads();
                if (threadIdx.x == 0) {
                    for (int t = 1; t < blockDim.x; t++) sum += parts[t];
                    y[0] = sum;
                }
            }
            extern "C" __global__ void stray(float* y, i64 offset) { y[offset] = 1; }
            // every block adds one, then all see the count of all
            extern "C" __global__ void all_blocks(u32* counter, u32* seen) {
                if (threadIdx.x == 0) atomicAdd(counter + 1, 1u);
                meet(counter, gridDim.x, 1);
                if (threadIdx.x == 0) seen[blockIdx.x] = *reinterpret_cast<volatile u32*>(counter + 1);
            }
            extern "C" __global__ void cluster_size(u32* out) {
                u32 size = 1;
            #if __CUDA_ARCH__ >= 900
                asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
            #endif
                if (threadIdx.x == 0) out[blockIdx.x] = size;
            }
            extern "C" __global__ void dynamic(float* y, int n) {
                TENON_DYNAMIC_SHARED(float, room);
                for (int i = threadIdx.x; i < n; i += blockDim.x) room[i] = i;
                __syncthreads();
                if (threadIdx.x == 0) y[0] = room[n - 1];
            }
            """;

    final GpuContext context;
    final GpuStream stream;
    final GpuModule module;
    final Arena arena = Arena.ofShared();

    private Gpu(GpuContext context) {
        this.context = context;
        try {
            module = context.load(new CachingCompiler(new NvrtcCompiler(), KernelCache.standard(), () -> "")
                    .compile(
                            new KernelSource("driver_test.cu", SOURCE, Map.of(), List.of()),
                            context.device().architecture()));
        } catch (ImageRejected e) {
            throw new AssertionError(e);
        }
        stream = context.newStream();
    }

    /** Skips the test where there is no device. */
    public static void require() {
        RequiredGpus.device(0);
    }

    static Gpu open() {
        return open(0);
    }

    static Gpu open(int ordinal) {
        RequiredGpus.device(ordinal);
        return unchecked(ordinal);
    }

    /** For child processes, which have no test to skip. */
    static Gpu unchecked(int ordinal) {
        return new Gpu(new CudaDriver().open(ordinal));
    }

    DeviceBuffer upload(float... values) {
        DeviceBuffer buffer = context.allocate(4L * values.length);
        stream.copyToDevice(MemorySegment.ofArray(values), buffer, 0);
        return buffer;
    }

    float[] download(DeviceBuffer buffer) {
        return download(stream, buffer);
    }

    static float[] download(GpuStream stream, DeviceBuffer buffer) {
        float[] values = new float[Math.toIntExact(buffer.bytes() / 4)];
        stream.copyToHost(buffer, 0, MemorySegment.ofArray(values));
        return values;
    }

    KernelArguments arguments() {
        return new KernelArguments(arena);
    }

    void axpb(GpuStream on, DeviceBuffer x, DeviceBuffer y, float a, float b) {
        int n = Math.toIntExact(x.bytes() / 4);
        on.launch(
                module.function("axpb"),
                LaunchShape.of((n + 127) / 128, 128),
                arguments().add(x).add(y).add(a).add(b).add(n));
    }

    /** y = 2x + 1 on new memory, from start to end. */
    void usable() {
        try (DeviceBuffer x = upload(1, 2, 3, 4);
                DeviceBuffer y = context.allocate(16)) {
            axpb(stream, x, y, 2, 1);
            Assertions.assertArrayEquals(new float[] {3, 5, 7, 9}, download(y));
        }
    }

    int[] ints(DeviceBuffer buffer) {
        int[] values = new int[Math.toIntExact(buffer.bytes() / 4)];
        MemorySegment memory = arena.allocate(buffer.bytes(), 4);
        stream.copyToHost(buffer, 0, memory);
        MemorySegment.copy(memory, ValueLayout.JAVA_INT, 0, values, 0, values.length);
        return values;
    }

    @Override
    public void close() {
        context.close();
        arena.close();
    }
}
