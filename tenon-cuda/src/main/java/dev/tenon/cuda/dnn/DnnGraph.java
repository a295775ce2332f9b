package dev.tenon.cuda.dnn;

import static dev.tenon.nativelib.cudnn.CudnnConstants.*;

import dev.tenon.core.ir.DType;
import dev.tenon.nativelib.cudnn.Cudnn;
import dev.tenon.nativelib.cudnn.CudnnLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Descriptors of one operation graph, and what is asked of it. The context is current in every call. Used by one thread
 * at a time.
 */
final class DnnGraph implements AutoCloseable {
    /** Numbers of the operands. */
    static final long X = 1;

    static final long W = 2;
    static final long Y = 3;
    static final long BIAS = 4;
    static final long RESIDUAL = 5;
    private static final long FIRST_VIRTUAL = 100;

    /** Values start on 64-byte boundaries; more than 16 makes no difference to the library. */
    private static final long ALIGNMENT = 16;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment out = arena.allocate(ValueLayout.JAVA_LONG);
    private final List<Long> created = new ArrayList<>();
    private final DnnProblem problem;
    private final long handle;
    private long virtuals = FIRST_VIRTUAL;

    DnnGraph(DnnProblem problem, long handle) {
        this.problem = problem;
        this.handle = handle;
    }

    /** A graph of the convolution and what follows it, finalized. */
    long build() {
        List<Long> operations = new ArrayList<>();
        int left = (problem.bias() ? 1 : 0) + (problem.relu() ? 1 : 0) + (problem.residual() ? 1 : 0);
        long sum = left == 0 ? result() : virtual();
        operations.add(convolution(sum));
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
        if (problem.residual()) {
            operations.add(pointwise(POINTWISE_ADD, sum, tensor(RESIDUAL, problem.y(), false), result()));
        }
        long graph = create(OPERATIONGRAPH_DESCRIPTOR);
        longs(graph, OPERATIONGRAPH_HANDLE, TYPE_HANDLE, handle);
        longs(
                graph,
                OPERATIONGRAPH_OPS,
                TYPE_BACKEND_DESCRIPTOR,
                operations.stream().mapToLong(Long::longValue).toArray());
        finish(graph, "operation graph");
        return graph;
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
            out.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            set(tensor, TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, 1, out);
        }
        finish(tensor, "tensor");
        return tensor;
    }

    private static int type(DType dtype) {
        return dtype == DType.F16 ? DATA_HALF : dtype == DType.BF16 ? DATA_BFLOAT16 : DATA_FLOAT;
    }

    /** Engine configurations for a graph, the library's favourite first. */
    List<Long> configurations(long graph, int mode, int most) {
        long heuristic = create(ENGINEHEUR_DESCRIPTOR);
        longs(heuristic, ENGINEHEUR_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, graph);
        number(heuristic, ENGINEHEUR_MODE, TYPE_HEUR_MODE, mode);
        if (Cudnn.cudnnBackendFinalize(heuristic) != 0) {
            return List.of();
        }
        MemorySegment found = arena.allocate(ValueLayout.JAVA_LONG, most);
        for (int i = 0; i < most; i++) {
            found.setAtIndex(ValueLayout.JAVA_LONG, i, create(ENGINECFG_DESCRIPTOR));
        }
        int status = Cudnn.cudnnBackendGetAttribute(
                heuristic, ENGINEHEUR_RESULTS, TYPE_BACKEND_DESCRIPTOR, most, out.address(), found.address());
        List<Long> all = new ArrayList<>();
        long count = status == 0 ? Math.min(most, out.get(ValueLayout.JAVA_LONG, 0)) : 0;
        for (int i = 0; i < count; i++) {
            all.add(found.getAtIndex(ValueLayout.JAVA_LONG, i));
        }
        return all;
    }

    /** Whether the engine of a configuration computes as exactly as the problem asks, and the same each time. */
    boolean isExact(long configuration) {
        long engine = create(ENGINE_DESCRIPTOR);
        out.set(ValueLayout.JAVA_LONG, 0, engine);
        MemorySegment count = arena.allocate(ValueLayout.JAVA_LONG);
        int status = Cudnn.cudnnBackendGetAttribute(
                configuration, ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, count.address(), out.address());
        MemorySegment notes = arena.allocate(ValueLayout.JAVA_INT, NOTE_TYPE_COUNT);
        if (status == 0) {
            status = Cudnn.cudnnBackendGetAttribute(
                    engine,
                    ENGINE_NUMERICAL_NOTE,
                    TYPE_NUMERICAL_NOTE,
                    NOTE_TYPE_COUNT,
                    count.address(),
                    notes.address());
        }
        if (status != 0) {
            return false;
        }
        for (int i = 0; i < Math.min(NOTE_TYPE_COUNT, count.get(ValueLayout.JAVA_LONG, 0)); i++) {
            int note = notes.getAtIndex(ValueLayout.JAVA_INT, i);
            boolean rounds = note == NOTE_TENSOR_CORE && problem.dtype() == DType.F32 && !problem.tf32();
            boolean loses = note >= NOTE_DOWN_CONVERT_INPUTS && note <= NOTE_WINOGRAD_TILE_13X13;
            if (rounds || loses) {
                return false;
            }
        }
        return true;
    }

    /** A plan for a configuration, which the caller destroys; 0 where the library has none or wants more memory. */
    long plan(long configuration, long workspaceBytes) {
        long plan = create(EXECUTION_PLAN_DESCRIPTOR);
        longs(plan, EXECUTION_PLAN_HANDLE, TYPE_HANDLE, handle);
        longs(plan, EXECUTION_PLAN_ENGINE_CONFIG, TYPE_BACKEND_DESCRIPTOR, configuration);
        if (Cudnn.cudnnBackendFinalize(plan) != 0 || workspaceBytes(plan) > workspaceBytes) {
            return 0;
        }
        created.remove(plan);
        return plan;
    }

    /** Bytes of memory that a plan needs; more than there is where the library does not say. */
    long workspaceBytes(long plan) {
        MemorySegment bytes = arena.allocate(ValueLayout.JAVA_LONG);
        int status = Cudnn.cudnnBackendGetAttribute(
                plan, EXECUTION_PLAN_WORKSPACE_SIZE, TYPE_INT64, 1, out.address(), bytes.address());
        return status == 0 ? bytes.get(ValueLayout.JAVA_LONG, 0) : Long.MAX_VALUE;
    }

    private long create(int type) {
        CudnnLibrary.CHECK.check(
                Cudnn.cudnnBackendCreateDescriptor(type, out.address()), "cudnnBackendCreateDescriptor(%d)", type);
        long descriptor = out.get(ValueLayout.JAVA_LONG, 0);
        created.add(descriptor);
        return descriptor;
    }

    private void finish(long descriptor, String what) {
        int status = Cudnn.cudnnBackendFinalize(descriptor);
        if (status != 0) {
            CudnnLibrary.CHECK.check(status, "cudnnBackendFinalize(%s of %s)", what, problem);
        }
    }

    private static long[] array(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).toArray();
    }

    private void longs(long descriptor, int name, int type, long... values) {
        set(descriptor, name, type, values.length, arena.allocateFrom(ValueLayout.JAVA_LONG, values));
    }

    private void number(long descriptor, int name, int type, int value) {
        out.set(ValueLayout.JAVA_INT, 0, value);
        set(descriptor, name, type, 1, out);
    }

    private void real(long descriptor, int name, float value) {
        out.set(ValueLayout.JAVA_FLOAT, 0, value);
        set(descriptor, name, TYPE_FLOAT, 1, out);
    }

    private void set(long descriptor, int name, int type, long count, MemorySegment values) {
        int status = Cudnn.cudnnBackendSetAttribute(descriptor, name, type, count, values.address());
        if (status != 0) {
            CudnnLibrary.CHECK.check(status, "cudnnBackendSetAttribute(%d of %s)", name, problem);
        }
    }

    /** Destroys every descriptor but plans that were handed out. */
    @Override
    public void close() {
        for (long descriptor : created.reversed()) {
            Cudnn.cudnnBackendDestroyDescriptor(descriptor);
        }
        arena.close();
    }
}
