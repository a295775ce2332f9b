package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.Broadcast;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elementwise;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.loops.StridedCopy;
import dev.tenon.cpu.machine.RegionKernel;
import dev.tenon.cpu.machine.RegionKernel.Element;
import dev.tenon.cpu.machine.RegionKernel.Word;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.RangeTask;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A region of f32 and floats of 16 bits in machine code of its own, where its operations have that: one loop from
 * operands to result. Tiles serve memory that machine code does not take.
 */
final class RegionStep implements CpuStep, RangeTask {
    /** Elements that are worth code of their own. */
    private static final long LEAST = 1 << 15;

    /** A row shorter than this is not worth its beginning and end. */
    private static final long SHORT_ROW = 64;

    /** Elements that are worth a piece of work for another thread. */
    private static final long GRAIN = 16_384;

    /** Code stays for the process, so there is an end to it. */
    private static final int MOST_KERNELS = 256;

    private static final ConcurrentHashMap<RegionKernel.Form, Optional<RegionKernel>> KERNELS =
            new ConcurrentHashMap<>();

    private final RegionKernel kernel;
    private final CpuElementwiseStep tiles;
    private final int[] rows;
    private final boolean[] repeated;
    private final int[] scalars;
    private final Element[] scalarElements;
    private final int output;
    private final long elements;
    private final long inner;
    private final boolean stream;

    /** The operands of a region: which are rows, of those which are one row for all, and which are single numbers. */
    record Operands(List<Integer> rows, List<Boolean> repeated, List<Integer> scalars) {
        /** The number of an operand among the values of a {@link RegionKernel.Form}. */
        int value(int input) {
            int row = rows.indexOf(input);
            return row >= 0 ? row : rows.size() + scalars.indexOf(input);
        }
    }

    private RegionStep(
            RegionKernel kernel,
            CpuElementwiseStep tiles,
            Operands operands,
            Broadcast broadcast,
            Node node,
            int[] slots,
            int y) {
        this.kernel = kernel;
        this.tiles = tiles;
        rows = new int[operands.rows.size()];
        repeated = new boolean[rows.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = slots[operands.rows.get(i)];
            repeated[i] = operands.repeated.get(i);
        }
        scalars = new int[operands.scalars.size()];
        scalarElements = new Element[scalars.length];
        for (int i = 0; i < scalars.length; i++) {
            int input = operands.scalars.get(i);
            scalars[i] = slots[input];
            scalarElements[i] = Objects.requireNonNull(element(node.input(input).dtype()));
        }
        output = y;
        elements = node.output().shape().elements();
        boolean byRow = operands.repeated.contains(true);
        inner = byRow ? broadcast.inner() : 1;
        stream = SizeMath.product("region", kernel.form().result().bytes(), elements) >= StridedCopy.STREAM_BYTES;
    }

    /** The step, or the tiles where the region has no machine code. */
    static CpuStep of(
            ElementwiseForm made,
            Broadcast broadcast,
            CpuElementwiseStep tiles,
            Node node,
            int[] slots,
            int[] outputs) {
        long elements = node.output().shape().elements();
        Region region = made.region();
        boolean single = outputs.length == 1
                && region.results().getFirst() == region.steps().size() - 1;
        if (!single || elements < LEAST || !isFloat(node) || !MachineLoops.available()) {
            return tiles;
        }
        Operands operands = operands(node, broadcast);
        RegionKernel kernel = operands == null
                ? null
                : made.kernel(operands, () -> {
                    RegionKernel.Form form = form(region, operands, node);
                    return Optional.ofNullable(form == null ? null : kernel(form));
                });
        return operands == null || kernel == null
                ? tiles
                : new RegionStep(kernel, tiles, operands, broadcast, node, slots, outputs[0]);
    }

    private static boolean isFloat(Node node) {
        boolean floats = element(node.output().dtype()) != null;
        for (Value input : node.inputs()) {
            floats = floats && element(input.dtype()) != null;
        }
        return floats;
    }

    private static @Nullable RegionKernel kernel(RegionKernel.Form form) {
        Optional<RegionKernel> known = KERNELS.get(form);
        if (known == null && KERNELS.size() < MOST_KERNELS) {
            known = KERNELS.computeIfAbsent(form, key -> {
                try {
                    return Optional.ofNullable(RegionKernel.make(MachineLoops.lanes(), key));
                } catch (IllegalStateException _) {
                    return Optional.empty(); // the system gives no more memory for code
                }
            });
        }
        return known == null ? null : known.orElse(null);
    }

    private static @Nullable Operands operands(Node node, Broadcast broadcast) {
        Operands operands = new Operands(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int input = 0; input < node.inputs().size(); input++) {
            boolean whole = broadcast.isWhole(input);
            if (!whole && broadcast.isScalar(input)) {
                operands.scalars.add(input);
            } else if (whole || (broadcast.isRow(input) && broadcast.inner() >= SHORT_ROW)) {
                operands.rows.add(input);
                operands.repeated.add(!whole);
            } else {
                return null;
            }
        }
        boolean fits = operands.rows.size() <= RegionKernel.MOST_ROWS
                && operands.scalars.size() <= RegionKernel.MOST_SCALARS
                && broadcast.inner() <= Integer.MAX_VALUE;
        return fits ? operands : null;
    }

    private static @Nullable Element element(DType dtype) {
        return switch (dtype) {
            case F32 -> Element.F32;
            case F16 -> Element.F16;
            case BF16 -> Element.BF16;
            default -> null;
        };
    }

    private static RegionKernel.@Nullable Form form(Region region, Operands operands, Node node) {
        int inputs = node.inputs().size();
        DType result = node.output().dtype();
        List<RegionKernel.Step> steps = new ArrayList<>();
        for (Region.Step step : region.steps()) {
            List<Integer> arguments = step.arguments().stream()
                    .map(argument -> argument < inputs ? operands.value(argument) : argument)
                    .toList();
            boolean last = steps.size() == region.steps().size() - 1;
            RegionKernel.Step made = last && step.op() instanceof Cast
                    ? new RegionKernel.Step(Word.COPY, arguments.getFirst(), arguments.getFirst(), 0, 0)
                    : step(step.op(), arguments);
            if (made == null) {
                return null;
            }
            steps.add(made);
        }
        List<Element> elements = operands.rows.stream()
                .map(input -> element(node.inputs().get(input).dtype()))
                .toList();
        return new RegionKernel.Form(elements, operands.scalars.size(), steps, Objects.requireNonNull(element(result)));
    }

    private static RegionKernel.@Nullable Step step(Elementwise op, List<Integer> arguments) {
        int a = arguments.getFirst();
        if (op instanceof Unary unary) {
            float p = (float) unary.alpha();
            float q = (float) unary.beta();
            Word word = word(unary, p, q);
            boolean plain = word != Word.LEAK && word != Word.BOUND && word != Word.AFFINE;
            return word == null ? null : new RegionKernel.Step(word, a, a, plain ? 0 : p, plain ? 0 : q);
        }
        if (op instanceof Binary binary) {
            Word word = switch (binary.fn()) {
                case ADD -> Word.ADD;
                case SUB -> Word.SUBTRACT;
                case MUL -> Word.MULTIPLY;
                case DIV -> Word.DIVIDE;
                default -> null;
            };
            return word == null ? null : new RegionKernel.Step(word, a, arguments.get(1), 0, 0);
        }
        if (op instanceof Cast cast) {
            Word word = switch (cast.to()) {
                case F32 -> Word.COPY;
                case F16 -> Word.ROUND_HALF;
                case BF16 -> Word.ROUND_BFLOAT;
                default -> null;
            };
            return word == null ? null : new RegionKernel.Step(word, a, a, 0, 0);
        }
        return null;
    }

    private static @Nullable Word word(Unary unary, float p, float q) {
        return switch (unary.fn()) {
            case NEG -> Word.NEGATE;
            case ABS -> Word.MAGNITUDE;
            case SQRT -> Word.ROOT;
            case RECIPROCAL -> Word.RECIPROCAL;
            case RELU -> Word.NOT_NEGATIVE;
            case LEAKY_RELU -> p > 0 && p <= 1 ? Word.LEAK : null;
            case CLIP -> {
                boolean positiveZero = Float.floatToRawIntBits(p) == 0;
                boolean numbers = p <= q && q != 0 && (p != 0 || positiveZero);
                yield numbers ? Word.BOUND : null;
            }
            case AFFINE -> Word.AFFINE;
            case GELU -> Word.GELU;
            case EXP -> Word.EXPONENTIAL;
            case SIGMOID -> Word.SIGMOID;
            case SILU -> p == 1 ? Word.GATE : null;
            case TANH -> Word.TANGENT;
            default -> null;
        };
    }

    @Override
    public void run(CpuFrame frame) {
        boolean outside = Segments.isNative(frame.at(output));
        for (int slot : rows) {
            outside = outside && Segments.isNative(frame.at(slot));
        }
        if (outside) {
            frame.parallel(this, elements / inner, Math.max(1, GRAIN / inner));
        } else {
            tiles.run(frame);
        }
    }

    /** Rows, where operands repeat one; else elements. */
    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        float[] numbers = new float[scalars.length];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = number(frame.at(scalars[i]), scalarElements[i]);
        }
        long most = inner == 1 ? 1 << 28 : to - from;
        for (long at = from; at < to; at += most) {
            long count = Math.min(most, to - at);
            long n = inner == 1 ? count : inner;
            Matrix[] operands = new Matrix[rows.length];
            for (int i = 0; i < operands.length; i++) {
                long bytes = repeated[i] ? 0 : kernel.form().operands().get(i).bytes();
                operands[i] = new Matrix(frame.at(rows[i]), bytes * at * inner, bytes * n);
            }
            long bytes = kernel.form().result().bytes();
            Matrix y = new Matrix(frame.at(output), bytes * at * inner, bytes * n);
            kernel.run(inner == 1 ? 1 : count, (int) n, operands, numbers, y, stream, MachineLoops.arguments());
        }
    }

    private static float number(MemorySegment scalar, Element element) {
        return switch (element) {
            case F32 -> scalar.get(Loops.F32, 0);
            case F16 -> Float.float16ToFloat(scalar.get(Convert.I16, 0));
            case BF16 -> Float.intBitsToFloat(scalar.get(Convert.I16, 0) << 16);
        };
    }

    @Override
    public String tier() {
        return "machine code";
    }

    @Override
    public long workspaceBytes() {
        return tiles.workspaceBytes();
    }
}
