package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.*;

import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Descriptors of a convolution and what follows it. Used by one thread at a time. */
final class DnnGraph extends DnnDescriptors {
    /** Numbers of the operands. */
    static final long X = 1;

    static final long W = 2;
    static final long Y = 3;
    static final long BIAS = 4;
    static final long RESIDUAL = 5;
    private static final long FIRST_VIRTUAL = 100;
    /**
     * Engines whose kernels for f16 make 0 of NaN and of minus infinity, as if a relu with an infinite bound followed
     * (cuDNN 9.14).
     */
    private static final Set<Long> LOSING = Set.of(32L, 47L);

    private final DnnProblem problem;
    private long virtuals = FIRST_VIRTUAL;

    DnnGraph(DnnProblem problem, long handle) {
        super(problem, handle);
        this.problem = problem;
    }

    /** A graph of the convolution and what follows it, finalized. */
    @Override
    long build() {
        List<Long> operations = new ArrayList<>();
        int left = (problem.bias() ? 1 : 0) + (problem.relu() ? 1 : 0) + (problem.residual() ? 1 : 0);
        long sum = left == 0 ? result() : virtual();
        operations.add(convolution(sum));
        // the order of the library's own fused convolutions: residual, bias, activation
        if (problem.residualFirst()) {
            long next = --left == 0 ? result() : virtual();
            operations.add(pointwise(POINTWISE_ADD, sum, tensor(RESIDUAL, problem.y(), false), next));
            sum = next;
        }
        if (problem.bias()) {
            List<Long> ones = new ArrayList<>(problem.y());
            ones.replaceAll(_ -> 1L);
            ones.set(1, problem.y().get(1));
            long next = --left == 0 ? result() : virtual();
            operations.add(pointwise(POINTWISE_ADD, sum, tensor(BIAS, ones, false), next));
            sum = next;
        }
        if (problem.relu()) {
            long next = --left == 0 ? result() : virtual();
            operations.add(pointwise(POINTWISE_RELU_FWD, sum, 0, next));
            sum = next;
        }
        if (problem.residual() && !problem.residualFirst()) {
            operations.add(pointwise(POINTWISE_ADD, sum, tensor(RESIDUAL, problem.y(), false), result()));
        }
        return graph(operations);
    }

    private long result() {
        return tensor(Y, problem.y(), false);
    }

    private long virtual() {
        return tensor(virtuals++, problem.y(), true);
    }

    private long convolution(long y) {
        int dims = problem.strides().size();
        long window = create(CONVOLUTION_DESCRIPTOR);
        longs(window, CONVOLUTION_SPATIAL_DIMS, TYPE_INT64, dims);
        number(window, CONVOLUTION_COMP_TYPE, TYPE_DATA_TYPE, DATA_FLOAT);
        number(window, CONVOLUTION_CONV_MODE, TYPE_CONVOLUTION_MODE, CROSS_CORRELATION);
        longs(window, CONVOLUTION_PRE_PADDINGS, TYPE_INT64, array(problem.before()));
        longs(window, CONVOLUTION_POST_PADDINGS, TYPE_INT64, array(problem.after()));
        longs(window, CONVOLUTION_DILATIONS, TYPE_INT64, array(problem.dilations()));
        longs(window, CONVOLUTION_FILTER_STRIDES, TYPE_INT64, array(problem.strides()));
        finish(window, "convolution");
        long x = tensor(X, problem.x(), false);
        long w = tensor(W, problem.w(), false);
        boolean back = problem.transposed();
        long operation = create(
                back ? OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR : OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
        longs(operation, back ? CONVOLUTION_BWD_DATA_DY : CONVOLUTION_FORWARD_X, TYPE_BACKEND_DESCRIPTOR, x);
        longs(operation, back ? CONVOLUTION_BWD_DATA_W : CONVOLUTION_FORWARD_W, TYPE_BACKEND_DESCRIPTOR, w);
        longs(operation, back ? CONVOLUTION_BWD_DATA_DX : CONVOLUTION_FORWARD_Y, TYPE_BACKEND_DESCRIPTOR, y);
        longs(
                operation,
                back ? CONVOLUTION_BWD_DATA_CONV_DESC : CONVOLUTION_FORWARD_CONV_DESC,
                TYPE_BACKEND_DESCRIPTOR,
                window);
        real(operation, back ? CONVOLUTION_BWD_DATA_ALPHA : CONVOLUTION_FORWARD_ALPHA, 1);
        real(operation, back ? CONVOLUTION_BWD_DATA_BETA : CONVOLUTION_FORWARD_BETA, 0);
        finish(operation, "convolution operation");
        return operation;
    }

    private long pointwise(int mode, long x, long b, long y) {
        long function = create(POINTWISE_DESCRIPTOR);
        number(function, POINTWISE_MODE, TYPE_POINTWISE_MODE, mode);
        number(function, POINTWISE_MATH_PREC, TYPE_DATA_TYPE, DATA_FLOAT);
        if (mode == POINTWISE_RELU_FWD) {
            number(function, POINTWISE_NAN_PROPAGATION, TYPE_NAN_PROPAGATION, PROPAGATE_NAN);
        }
        finish(function, "pointwise");
        long operation = create(OPERATION_POINTWISE_DESCRIPTOR);
        longs(operation, OPERATION_POINTWISE_PW_DESCRIPTOR, TYPE_BACKEND_DESCRIPTOR, function);
        longs(operation, OPERATION_POINTWISE_XDESC, TYPE_BACKEND_DESCRIPTOR, x);
        if (b != 0) {
            longs(operation, OPERATION_POINTWISE_BDESC, TYPE_BACKEND_DESCRIPTOR, b);
        }
        longs(operation, OPERATION_POINTWISE_YDESC, TYPE_BACKEND_DESCRIPTOR, y);
        finish(operation, "pointwise operation");
        return operation;
    }

    /** Virtual ones are between operations, in f32. */
    private long tensor(long number, List<Long> sizes, boolean virtual) {
        long[] strides = new long[sizes.size()];
        long stride = 1;
        for (int i = sizes.size() - 1; i >= 0; i--) {
            // with the channels last the order is batch, spatial dims, channels
            int dim = !problem.channelsLast() || i == 0 ? i : i == sizes.size() - 1 ? 1 : i + 1;
            strides[dim] = stride;
            stride *= sizes.get(dim);
        }
        long tensor = create(TENSOR_DESCRIPTOR);
        number(tensor, TENSOR_DATA_TYPE, TYPE_DATA_TYPE, virtual ? DATA_FLOAT : type(problem.dtype()));
        longs(tensor, TENSOR_DIMENSIONS, TYPE_INT64, array(sizes));
        longs(tensor, TENSOR_STRIDES, TYPE_INT64, strides);
        longs(tensor, TENSOR_UNIQUE_ID, TYPE_INT64, number);
        longs(tensor, TENSOR_BYTE_ALIGNMENT, TYPE_INT64, ALIGNMENT);
        if (virtual) {
            set(tensor, TENSOR_IS_VIRTUAL);
        }
        finish(tensor, "tensor");
        return tensor;
    }

    @Override
    boolean isRight(long engine) {
        return problem.dtype() != DType.F16 || !LOSING.contains(engine);
    }

    @Override
    boolean mayRound() {
        return problem.dtype() != DType.F32 || problem.tf32();
    }
}
