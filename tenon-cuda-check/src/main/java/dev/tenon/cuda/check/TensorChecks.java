package dev.tenon.cuda.check;

import static dev.tenon.cuda.check.BackendChecks.require;
import static dev.tenon.cuda.check.BackendChecks.thrown;

import dev.tenon.collective.Communicator;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.error.CaptureException;
import dev.tenon.core.error.ClosedException;
import dev.tenon.core.error.CollectiveException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.OutOfMemoryException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.tensor.Tensor;
import dev.tenon.cuda.collective.GpuCommunicator;
import dev.tenon.cuda.collective.GpuGroup;
import dev.tenon.cuda.port.GpuStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * What collectives on a runtime's tensors promise: sums that sessions made and sessions read, without a wait in
 * between, and memory that goes when it may. Each check opens what it needs and throws an AssertionError.
 */
public final class TensorChecks {
    /**
     * One promise.
     *
     * @param name in words
     * @param leastWorld ranks that it needs
     */
    public record Check(String name, int leastWorld, Body body) {}

    /** What a check does. */
    public interface Body {
        /** @param world devices of the backend that it takes */
        void run(String backend, int world);
    }

    private static final int[] LENGTHS = {1, 2, 31, 1023, 4099, 65_536};
    private static final int STEPS = 40;

    private TensorChecks() {}

    /** Those that are about short sums alone. */
    public static List<Check> all() {
        return List.of(
                new Check("a session reads a sum that nobody has waited for", 1, TensorChecks::sums),
                new Check("MS-01: a chain of runs and sums, each input closed at once", 1, TensorChecks::chain),
                new Check("a tensor of which there is a host copy is copied anew", 1, TensorChecks::hostCopies),
                new Check("nothing of a call that is refused is left behind", 1, TensorChecks::refused),
                new Check("two groups, each on streams of its own, take turns on a tensor", 1, TensorChecks::twoGroups),
                new Check("one thread for all ranks", 1, TensorChecks::together),
                new Check("runtimes may be closed before the group", 1, TensorChecks::runtimesFirst),
                new Check("a sum that fails is an error for its readers", 2, TensorChecks::missingRank));
    }

    /** Small whole numbers, whose sums are exact. */
    private static float[] values(int rank, int length) {
        float[] values = new float[length];
        for (int i = 0; i < length; i++) {
            values[i] = 2 * (rank + 1) + 4 * (i % 5);
        }
        return values;
    }

    private static float[] sum(int world, int length, float factor) {
        float[] sum = new float[length];
        for (int i = 0; i < length; i++) {
            sum[i] = factor * (world * (world + 1) + 4 * world * (i % 5));
        }
        return sum;
    }

    private static void sums(String backend, int world) {
        try (TensorWorld all = new TensorWorld(backend, world)) {
            all.each(rank -> {
                for (int length : LENGTHS) {
                    Tensor x = rank.upload(values(rank.number(), length));
                    Tensor half = rank.halfOnDevice(x);
                    Tensor target = rank.runtime().zeros(TensorType.of(DType.F32, length));
                    rank.communicator().allReduce(half, target, ReduceOp.SUM);
                    rank.communicator().allReduce(x, ReduceOp.SUM);
                    expect(rank.half(x), sum(world, length, 0.5f));
                    expect(rank.half(target), sum(world, length, 0.25f));
                    expect(x, sum(world, length, 1));
                    expect(half, scaled(values(rank.number(), length), 0.5f));
                    List.of(x, half, target).forEach(Tensor::close);
                }
            });
        }
    }

    /**
     * x = mean over ranks of x / 2, again and again: freed memory is handed out anew while work may still be under way.
     */
    private static void chain(String backend, int world) {
        int length = 4099;
        try (TensorWorld all = new TensorWorld(backend, world)) {
            all.each(rank -> {
                rank.half(Tensor.of(new float[length], length)); // its memory, and its kernels
                long before = rank.runtime().memory().total();
                Tensor x = rank.upload(values(rank.number(), length));
                for (int step = 0; step < STEPS; step++) {
                    Tensor half = rank.halfOnDevice(x);
                    x.close();
                    Tensor mean = rank.runtime().zeros(half.type());
                    rank.communicator().allReduce(half, mean, ReduceOp.MEAN);
                    half.close();
                    rank.communicator().allReduce(mean, ReduceOp.MEAN); // equal numbers
                    x = mean;
                }
                float factor = (float) Math.scalb(1.0 / world, -STEPS);
                float[] expected = new float[length];
                for (int i = 0; i < length; i++) { // only halves are rounded, and they are not
                    expected[i] = sum(world, length, 1)[i] * factor;
                }
                expect(x, expected);
                x.close();
                rank.communicator().await();
                rank.runtime().upload(Tensor.zeros(DType.F32, 1)).close();
                require(
                        rank.runtime().memory().total() == before,
                        "all given back: " + rank.runtime().memory() + ", before " + before);
            });
        }
    }

    private static void hostCopies(String backend, int world) {
        try (TensorWorld all = new TensorWorld(backend, world)) {
            all.each(rank -> {
                float[] own = values(rank.number(), 9);
                Tensor x = rank.upload(own);
                MemorySegment copy = x.segment();
                rank.communicator().allReduce(x, ReduceOp.SUM);
                expect(x, sum(world, 9, 1));
                require(
                        Arrays.equals(copy.toArray(ValueLayout.JAVA_FLOAT), own),
                        "what was handed out before is as it was");
                x.close();
                expect(x, sum(world, 9, 1));
            });
        }
    }

    private static void twoGroups(String backend, int world) {
        int length = 65_536;
        try (TensorWorld all = new TensorWorld(backend, world);
                GpuGroup other = all.another()) {
            all.each(rank -> {
                Communicator second = other.communicator(rank.number());
                for (int round = 0; round < 5; round++) {
                    Tensor x = rank.upload(values(rank.number(), length));
                    Tensor y = rank.runtime().zeros(x.type());
                    rank.communicator().allReduce(x, y, ReduceOp.SUM);
                    second.allReduce(y, x, ReduceOp.MEAN); // x is still read by the first
                    rank.communicator().allReduce(x, y, ReduceOp.SUM); // y is still read by the second
                    y.close();
                    second.allReduce(x, ReduceOp.SUM);
                    expect(rank.half(x), sum(world, length, 0.5f * world));
                    x.close();
                }
            });
        }
    }

    private static void refused(String backend, int world) {
        try (TensorWorld all = new TensorWorld(backend, world)) {
            TensorWorld.Rank rank = all.ranks.getLast();
            GpuCommunicator own = rank.communicator();
            long before = rank.runtime().memory().total();
            Tensor five = rank.upload(1, 2, 3, 4, 5);
            Tensor four = rank.upload(1, 2, 3, 4);
            says(InputException.class, () -> own.allReduce(five, four, ReduceOp.SUM), "4 f32", "5 f32");
            Tensor whole = rank.runtime().upload(Tensor.of(new int[5], 5));
            says(InputException.class, () -> own.allReduce(five, whole, ReduceOp.SUM), "5 i32", "5 f32");
            Tensor gone = rank.upload(1);
            gone.close();
            says(ClosedException.class, () -> own.allReduce(gone, ReduceOp.SUM), "allReduce", "f32[1]", "closed");
            says(ClosedException.class, () -> own.broadcast(gone, 0), "broadcast");
            if (world > 1) {
                Tensor other = all.ranks.getFirst().upload(1, 2, 3, 4, 5);
                says(
                        InputException.class,
                        () -> own.allReduce(five, other, ReduceOp.SUM),
                        backend + ":0",
                        "device " + (world - 1));
                other.close();
            }
            TensorType endless = TensorType.of(DType.F32, 1L << 31, 1L << 31);
            says(OutOfMemoryException.class, () -> rank.runtime().zeros(endless), "2^63");
            capture(rank, five);
            expect(five, 1, 2, 3, 4, 5);
            List.of(five, four, whole).forEach(Tensor::close);
            require(
                    rank.runtime().memory().total() == before,
                    "nothing is held: " + rank.runtime().memory());
        }
    }

    private static void capture(TensorWorld.Rank rank, Tensor tensor) {
        GpuStream stream = rank.communicator().stream();
        stream.beginCapture();
        says(CaptureException.class, () -> rank.communicator().allReduce(tensor, ReduceOp.SUM), "DeviceSlice");
        stream.abortCapture();
    }

    private static void together(String backend, int world) {
        int length = 1023;
        try (TensorWorld all = new TensorWorld(backend, world);
                GpuGroup other = all.another()) {
            List<Tensor> data = all.ranks.stream()
                    .map(rank -> rank.upload(values(rank.number(), length)))
                    .toList();
            Engine first = all.ranks.getFirst().runtime();
            Tensor one = all.ranks.getFirst().upload(1);
            says(
                    InputException.class,
                    () -> all.group.together(() -> {
                        all.ranks.forEach(rank -> rank.communicator().allReduce(data.get(rank.number()), ReduceOp.SUM));
                        all.ranks.getFirst().communicator().allReduce(data.getFirst(), one, ReduceOp.SUM);
                    }),
                    "1 f32");
            says(
                    InputException.class,
                    () -> all.group.together(() -> {
                        all.ranks.getFirst().communicator().allReduce(data.getFirst(), ReduceOp.SUM);
                        other.communicator(0).allReduce(data.getFirst(), ReduceOp.SUM);
                    }),
                    "two streams");
            all.ranks.forEach(rank ->
                    expect(rank.half(data.get(rank.number())), scaled(values(rank.number(), length), 0.5f)));
            all.group.together(() ->
                    all.ranks.forEach(rank -> rank.communicator().allReduce(data.get(rank.number()), ReduceOp.SUM)));
            all.ranks.forEach(rank -> expect(rank.half(data.get(rank.number())), sum(world, length, 0.5f)));
            long held = first.memory().total();
            data.forEach(Tensor::close);
            one.close();
            require(
                    held - first.memory().total() == data.getFirst().byteSize() + one.byteSize(),
                    "given back: " + first.memory() + ", before " + held);
        }
    }

    private static void runtimesFirst(String backend, int world) {
        TensorWorld all = new TensorWorld(backend, world);
        try (all) {
            all.each(rank -> {
                Tensor x = rank.upload(values(rank.number(), 65_536));
                for (int call = 0; call < STEPS; call++) {
                    rank.communicator().allReduce(x, ReduceOp.MEAN);
                }
            });
            all.ranks.forEach(rank -> rank.runtime().close());
            all.each(rank -> rank.communicator().await()); // which says if the device was lost
        }
    }

    private static void missingRank(String backend, int world) {
        try (TensorWorld all = new TensorWorld(backend, world, Duration.ofSeconds(3))) {
            TensorWorld.Rank rank = all.ranks.getFirst();
            Tensor apart = rank.upload(8);
            expect(rank.half(apart), 4); // loads its kernel, which may have to wait for the device
            Tensor good = rank.upload(1, 2);
            all.each(each -> {
                Tensor data = each.number() == 0 ? good : each.upload(1, 2);
                each.communicator().allReduce(data, ReduceOp.MEAN);
                each.communicator().await();
            });
            Tensor x = rank.upload(1, 2, 3);
            Tensor target = rank.upload(0, 0, 0);
            rank.communicator().allReduce(x, target, ReduceOp.SUM);
            says(CollectiveException.class, () -> rank.half(target), "rank 0");
            says(CollectiveException.class, target::toFloats, "rank 0");
            expect(x, 1, 2, 3);
            expect(rank.half(apart), 4);
            expect(rank.half(good), 0.5f, 1);
            List.of(x, target, apart, good).forEach(Tensor::close);
        }
    }

    private static float[] scaled(float[] values, float factor) {
        float[] scaled = values.clone();
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] *= factor;
        }
        return scaled;
    }

    private static void says(Class<? extends TenonException> type, Runnable action, String... words) {
        TenonException error = thrown(type, action);
        for (String word : words) {
            require(error.toString().contains(word), "names " + word + ": " + error);
        }
    }

    private static void expect(Tensor actual, float... expected) {
        float[] values = actual.toFloats();
        int at = Arrays.mismatch(values, expected);
        require(
                at < 0,
                at < 0
                        ? ""
                        : "element " + at + " of " + expected.length + " is " + values[at] + ", expected "
                                + expected[at]);
    }
}
