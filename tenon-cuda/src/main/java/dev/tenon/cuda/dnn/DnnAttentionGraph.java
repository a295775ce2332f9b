package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.*;

import java.util.ArrayList;
import java.util.List;

/**
 * Descriptors of an attention, in the form that the library's fused engines know: two products, and between them the
 * operations of a softmax one by one. The engines also want the logarithm of each row's sum, which nothing reads here,
 * and weights in the type of the operands (seen with cuDNN 9.19: other forms have no plan). Used by one thread at a
 * time.
 */
final class DnnAttentionGraph extends DnnDescriptors {
    /** Numbers of the operands. */
    static final long Q = 1;

    static final long K = 2;
    static final long V = 3;
    static final long Y = 4;
    static final long SCALE = 5;
    static final long LEAST = 6;
    private static final long FIRST_VIRTUAL = 100;
    private static final long SCALAR_ALIGNMENT = 4;
    private static final int QUERY_AXIS = 2;
    private static final int KEY_AXIS = 3;

    private final DnnAttention problem;
    private final List<Long> operations = new ArrayList<>();
    private final List<Long> scores;
    private final List<Long> rows;
    private long virtuals = FIRST_VIRTUAL;

    DnnAttentionGraph(DnnAttention problem, long handle) {
        super(problem, handle);
        this.problem = problem;
        List<Long> q = problem.q();
        this.scores = List.of(q.get(0), q.get(1), q.get(2), problem.k().get(2));
        this.rows = List.of(q.get(0), q.get(1), q.get(2), 1L);
    }

    @Override
    boolean isRight(long engine) {
        return true;
    }

    @Override
    boolean mayRound() {
        return true;
    }

    @Override
    long build() {
        int type = type(problem.dtype());
        List<Long> y = new ArrayList<>(problem.q());
        y.set(KEY_AXIS, problem.v().get(KEY_AXIS));
        long products = virtual(scores, DATA_FLOAT);
        product(
                tensor(Q, type, problem.q(), problem.qStrides()),
                tensor(K, type, swapped(problem.k()), swapped(problem.kStrides())),
                products);
        long scaled = virtual(scores, DATA_FLOAT);
        pointwise(POINTWISE_MUL, DATA_FLOAT, products, scalar(SCALE), scaled);
        long seen = problem.causal() ? masked(scaled) : scaled;
        long top = virtual(rows, DATA_FLOAT);
        reduce(REDUCE_MAX, seen, top);
        long below = virtual(scores, DATA_FLOAT);
        pointwise(POINTWISE_SUB, DATA_FLOAT, seen, top, below);
        long powers = virtual(scores, DATA_FLOAT);
        pointwise(POINTWISE_EXP, DATA_FLOAT, below, 0, powers);
        long total = virtual(rows, DATA_FLOAT);
        reduce(REDUCE_ADD, powers, total);
        long logarithm = virtual(rows, DATA_FLOAT);
        pointwise(POINTWISE_LOG, DATA_FLOAT, total, 0, logarithm);
        pointwise(POINTWISE_ADD, DATA_FLOAT, top, logarithm, virtual(rows, DATA_FLOAT));
        long weights = virtual(scores, type);
        pointwise(POINTWISE_DIV, DATA_FLOAT, powers, total, weights);
        product(weights, tensor(V, type, problem.v(), problem.vStrides()), tensor(Y, type, y, problem.yStrides()));
        return graph(operations);
    }

    /** The least number where the key's number is larger than the query's. */
    private long masked(long scaled) {
        long query = virtual(scores, DATA_INT32);
        index(QUERY_AXIS, scaled, query);
        long key = virtual(scores, DATA_INT32);
        index(KEY_AXIS, scaled, key);
        long sees = virtual(scores, DATA_BOOLEAN);
        pointwise(POINTWISE_CMP_GE, DATA_BOOLEAN, query, key, sees);
        long masked = virtual(scores, DATA_FLOAT);
        long select = begin(function(POINTWISE_BINARY_SELECT, DATA_FLOAT), scaled, scalar(LEAST), masked);
        longs(select, OPERATION_POINTWISE_TDESC, TYPE_BACKEND_DESCRIPTOR, sees);
        end(select);
        return masked;
    }

    private static List<Long> swapped(List<Long> all) {
        return List.of(all.get(0), all.get(1), all.get(3), all.get(2));
    }

    private void product(long a, long b, long c) {
        long matmul = create(MATMUL_DESCRIPTOR);
        number(matmul, MATMUL_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
        finish(matmul, "product");
        long operation = create(OPERATION_MATMUL_DESCRIPTOR);
        longs(operation, OPERATION_MATMUL_ADESC, TYPE_BACKEND_DESCRIPTOR, a);
        longs(operation, OPERATION_MATMUL_BDESC, TYPE_BACKEND_DESCRIPTOR, b);
        longs(operation, OPERATION_MATMUL_CDESC, TYPE_BACKEND_DESCRIPTOR, c);
        longs(operation, OPERATION_MATMUL_DESC, TYPE_BACKEND_DESCRIPTOR, matmul);
        end(operation);
    }

    private void reduce(int operator, long x, long y) {
        long reduction = create(REDUCTION_DESCRIPTOR);
        number(reduction, REDUCTION_OPERATOR, TYPE_REDUCTION_OPERATOR, operator);
        number(reduction, REDUCTION_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
        finish(reduction, "reduction");
        long operation = create(OPERATION_REDUCTION_DESCRIPTOR);
        longs(operation, OPERATION_REDUCTION_XDESC, TYPE_BACKEND_DESCRIPTOR, x);
        longs(operation, OPERATION_REDUCTION_YDESC, TYPE_BACKEND_DESCRIPTOR, y);
        longs(operation, OPERATION_REDUCTION_DESC, TYPE_BACKEND_DESCRIPTOR, reduction);
        end(operation);
    }

    private void pointwise(int mode, int type, long x, long b, long y) {
        end(begin(function(mode, type), x, b, y));
    }

    /** The numbers of positions along an axis. */
    private void index(int axis, long x, long y) {
        long function = create(POINTWISE_DESCRIPTOR);
        number(function, POINTWISE_MODE, TYPE_POINTWISE_MODE, POINTWISE_GEN_INDEX);
        number(function, POINTWISE_MATH_PREC, TYPE_DATA_TYPE, DATA_INT32);
        longs(function, POINTWISE_AXIS, TYPE_INT64, axis);
        finish(function, "index");
        end(begin(function, x, 0, y));
    }

    private long function(int mode, int type) {
        long function = create(POINTWISE_DESCRIPTOR);
        number(function, POINTWISE_MODE, TYPE_POINTWISE_MODE, mode);
        number(function, POINTWISE_MATH_PREC, TYPE_DATA_TYPE, type);
        finish(function, "pointwise");
        return function;
    }

    private long begin(long function, long x, long b, long y) {
        long operation = create(OPERATION_POINTWISE_DESCRIPTOR);
        longs(operation, OPERATION_POINTWISE_PW_DESCRIPTOR, TYPE_BACKEND_DESCRIPTOR, function);
        longs(operation, OPERATION_POINTWISE_XDESC, TYPE_BACKEND_DESCRIPTOR, x);
        if (b != 0) {
            longs(operation, OPERATION_POINTWISE_BDESC, TYPE_BACKEND_DESCRIPTOR, b);
        }
        longs(operation, OPERATION_POINTWISE_YDESC, TYPE_BACKEND_DESCRIPTOR, y);
        return operation;
    }

    private void end(long operation) {
        finish(operation, "operation");
        operations.add(operation);
    }

    private long scalar(long number) {
        List<Long> ones = List.of(1L, 1L, 1L, 1L);
        long tensor = start(number, DATA_FLOAT, ones, ones, SCALAR_ALIGNMENT);
        set(tensor, TENSOR_IS_BY_VALUE);
        finish(tensor, "scalar");
        return tensor;
    }

    private long virtual(List<Long> sizes, int type) {
        long[] strides = new long[sizes.size()];
        long stride = 1;
        for (int i = strides.length - 1; i >= 0; i--) {
            strides[i] = stride;
            stride *= sizes.get(i);
        }
        List<Long> dense = List.of(strides[0], strides[1], strides[2], strides[3]);
        long tensor = start(virtuals++, type, sizes, dense, ALIGNMENT);
        set(tensor, TENSOR_IS_VIRTUAL);
        finish(tensor, "tensor");
        return tensor;
    }

    private long tensor(long number, int type, List<Long> sizes, List<Long> strides) {
        long tensor = start(number, type, sizes, strides, ALIGNMENT);
        finish(tensor, "tensor");
        return tensor;
    }

    private long start(long number, int type, List<Long> sizes, List<Long> strides, long alignment) {
        long tensor = create(TENSOR_DESCRIPTOR);
        number(tensor, TENSOR_DATA_TYPE, TYPE_DATA_TYPE, type);
        longs(tensor, TENSOR_DIMENSIONS, TYPE_INT64, array(sizes));
        longs(tensor, TENSOR_STRIDES, TYPE_INT64, array(strides));
        longs(tensor, TENSOR_UNIQUE_ID, TYPE_INT64, number);
        longs(tensor, TENSOR_BYTE_ALIGNMENT, TYPE_INT64, alignment);
        return tensor;
    }
}
