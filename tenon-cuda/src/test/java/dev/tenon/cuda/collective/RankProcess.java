package dev.tenon.cuda.collective;

import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CollectiveTimeoutException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Target;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.driver.CudaDriver;
import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuContext;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;

/**
 * What a rank does that is a process: {@code sum}, {@code tensors}, or {@code dead}, in which the last rank leaves
 * without a word.
 */
final class RankProcess {
    private static final int LENGTH = 4099;

    private RankProcess() {}

    public static void main(String[] arguments) {
        RankEnvironment here = RankEnvironment.here();
        GpuCollectiveOptions options = GpuCollectiveOptions.defaults().withTimeout(Duration.ofSeconds(10));
        if (arguments[0].equals("tensors")) {
            tensors(here, options);
            return;
        }
        try (GpuContext context = new CudaDriver().open(here.localRank())) {
            if (arguments[0].equals("dead")) {
                dead(context, here, options.withTimeout(Duration.ofSeconds(5)));
                return;
            }
            try (GpuCommunicator rank = GpuRank.open(context, here, options)) {
                sum(context, rank);
            }
        }
    }

    private static void sum(GpuContext context, GpuCommunicator rank) {
        float[] data = new float[LENGTH];
        Arrays.fill(data, rank.rank() + 1);
        rank.allReduce(data, ReduceOp.SUM);
        require(data, rank.world() * (rank.world() + 1) / 2f);
        try (DeviceBuffer memory = context.allocate(4L * LENGTH)) {
            DeviceSlice slice = DeviceSlice.of(memory, DType.F32);
            rank.stream().copyToDevice(MemorySegment.ofArray(data), memory, 0);
            rank.allReduce(slice, slice, ReduceOp.MEAN);
            rank.await();
            rank.stream().copyToHost(memory, 0, MemorySegment.ofArray(data));
            require(data, rank.world() * (rank.world() + 1) / 2f);
        }
        rank.barrier();
        System.out.println("rank " + rank.rank() + " of " + rank.world() + " done");
    }

    private static void tensors(RankEnvironment here, GpuCollectiveOptions options) {
        try (Engine engine = Engine.open(Target.cuda(here.localRank()));
                GpuCommunicator rank = GpuRank.open(engine, here, options)) {
            float[] data = new float[LENGTH];
            Arrays.fill(data, rank.rank() + 1);
            Tensor own = engine.upload(Tensor.of(data, LENGTH));
            Tensor sum = engine.zeros(own.type());
            rank.allReduce(own, sum, ReduceOp.SUM);
            own.close();
            rank.allReduce(sum, ReduceOp.MEAN);
            require(sum.toFloats(), rank.world() * (rank.world() + 1) / 2f);
            sum.close();
            rank.barrier();
            System.out.println("rank " + rank.rank() + " of " + rank.world() + " done");
        }
    }

    private static void dead(GpuContext context, RankEnvironment here, GpuCollectiveOptions options) {
        GpuCommunicator rank = GpuRank.open(context, here, options);
        rank.barrier();
        if (rank.rank() == rank.world() - 1) {
            Runtime.getRuntime().halt(0);
        }
        try {
            rank.allReduce(new float[LENGTH], ReduceOp.SUM);
            System.out.println("no exception");
        } catch (CollectiveTimeoutException | dev.tenon.core.error.CollectiveAbortedException e) {
            System.out.println("rank " + rank.rank() + " was told: " + e.getMessage());
        }
        Runtime.getRuntime().halt(0); // what died is not waited for
    }

    private static void require(float[] data, float expected) {
        for (int i = 0; i < data.length; i++) {
            if (data[i] != expected) {
                throw new AssertionError("element " + i + " is " + data[i] + ", expected " + expected);
            }
        }
    }
}
