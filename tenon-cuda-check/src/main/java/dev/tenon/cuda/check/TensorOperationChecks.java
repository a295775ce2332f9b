package dev.tenon.cuda.check;

import static dev.tenon.cuda.check.BackendChecks.require;

import dev.tenon.collective.Chunks;
import dev.tenon.collective.Communicator;
import dev.tenon.collective.ReduceOp;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.tensor.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Every collective on tensors of every type that NCCL adds up, on the device and in host memory. Throws an
 * AssertionError.
 */
public final class TensorOperationChecks {
    private static final List<DType> DTYPES =
            List.of(DType.F32, DType.F16, DType.BF16, DType.F64, DType.I32, DType.I64, DType.U8);
    private static final int[] LENGTHS = {0, 1, 3, 31, 1023, 4099, 300_007};

    private TensorOperationChecks() {}

    /** All, on the first devices of a backend. */
    public static void run(String backend, int world) {
        try (TensorWorld all = new TensorWorld(backend, world)) {
            all.each(rank -> {
                for (DType dtype : DTYPES) {
                    for (int length : LENGTHS) {
                        new Operations(rank.communicator(), rank.runtime()::upload, dtype, length).check();
                    }
                }
                for (int length : LENGTHS) {
                    new Operations(rank.communicator(), tensor -> tensor, DType.F32, length).check();
                }
            });
        }
    }

    /** @param place puts a tensor where the collectives are to find it */
    private record Operations(Communicator rank, UnaryOperator<Tensor> place, DType dtype, int length) {
        private double element(int of, int i) {
            return 1 + (3 * of + i) % 7;
        }

        private double[] own(int of) {
            double[] values = new double[length];
            Arrays.setAll(values, i -> element(of, i));
            return values;
        }

        private double[] reduced(ReduceOp op) {
            double[] values = own(0);
            for (int of = 1; of < rank.world(); of++) {
                for (int i = 0; i < length; i++) {
                    values[i] = op == ReduceOp.MAX ? Math.max(values[i], element(of, i)) : values[i] + element(of, i);
                }
            }
            return values;
        }

        private Tensor place(double... values) {
            return place.apply(Tensor.of(dtype, values, values.length));
        }

        private Tensor poisoned(long elements) {
            Tensor tensor = Tensor.zeros(TensorType.of(dtype, elements));
            tensor.segment().fill((byte) 0x5a);
            return place.apply(tensor);
        }

        void check() {
            int me = rank.rank();
            int world = rank.world();
            Chunks chunks = new Chunks(length, world);
            int start = (int) chunks.start(me);
            int end = (int) chunks.end(me);
            Tensor source = place(own(me));
            Tensor whole = poisoned(length);
            Tensor part = poisoned(end - start);

            rank.allReduce(source, whole, ReduceOp.MAX);
            expect("allReduce", whole, reduced(ReduceOp.MAX));
            rank.reduceScatter(source, part, ReduceOp.SUM);
            expect("reduceScatter", part, Arrays.copyOfRange(reduced(ReduceOp.SUM), start, end));
            rank.allGather(part, whole);
            expect("allGather", whole, reduced(ReduceOp.SUM));
            rank.sendRecv(source, (me + 1) % world, whole, (me + world - 1) % world);
            expect("sendRecv", whole, own((me + world - 1) % world));
            expect("the source of all these", source, own(me));
            rank.broadcast(source, length % world);
            expect("broadcast", source, own(length % world));
            rank.allReduce(source, ReduceOp.SUM);
            double[] sum = own(length % world);
            Arrays.setAll(sum, i -> sum[i] * world);
            expect("allReduce in place", source, sum);
            List.of(source, whole, part).forEach(Tensor::close);
        }

        private void expect(String what, Tensor actual, double[] expected) {
            double[] values = actual.toDoubles();
            int at = Arrays.mismatch(values, expected);
            require(
                    at < 0,
                    at < 0
                            ? ""
                            : what + " of " + length + " " + dtype + ", rank " + rank.rank() + " of " + rank.world()
                                    + ": element " + at + " is " + values[at] + ", expected " + expected[at]);
        }
    }
}
