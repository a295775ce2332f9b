package dev.tenon.cuda.lower.state;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.state.Gru;
import dev.tenon.core.ir.op.state.Lstm;
import dev.tenon.core.ir.op.state.Rnn;
import dev.tenon.core.ir.op.state.RnnActivation;
import dev.tenon.core.ir.op.state.RnnDirection;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.StateCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.matmul.WorkspaceProduct;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Recurrent layers: the inputs' part of all steps as one product, then one launch along the sequence, or one launch a
 * phase where there are few or blocks cannot meet. Thread-safe.
 */
public final class GpuRecurrentLowering {
    private static final int THREADS = 256;
    private static final int TILE = 64;
    private static final int STATES = 4;
    private static final int FUNCTIONS = 3;

    /** Phases up to which a launch each costs no more than meetings. */
    private static final long FEW_PHASES = 2;

    private GpuRecurrentLowering() {}

    /**
     * What the kernels know of a layer.
     *
     * @param cell 0 RNN, 1 GRU, 2 LSTM
     * @param linear whether a GRU resets after the product
     * @param coupled whether an LSTM's forget gate is what its input gate leaves
     */
    private record Layer(
            int cell,
            RnnDirection direction,
            List<RnnActivation> activations,
            double clip,
            boolean batchFirst,
            boolean linear,
            boolean coupled,
            Inputs inputs) {
        int gates() {
            return cell == 0 ? 1 : cell + 2;
        }

        int phases() {
            return cell == 1 && !linear ? 2 : 1;
        }

        int directions() {
            return direction == RnnDirection.BIDIRECTIONAL ? 2 : 1;
        }
    }

    /** Which inputs there are behind x, w and r, in their order. */
    private record Inputs(boolean bias, boolean lengths, boolean hidden, boolean cell, boolean peepholes) {
        /** Slots in the kernel's order, -1 for those that are not there. */
        int[] slots(Node node, GpuLoweringContext context) {
            int[] slots = new int[5];
            int next = 3;
            boolean[] there = {bias, lengths, hidden, cell, peepholes};
            for (int i = 0; i < slots.length; i++) {
                slots[i] = there[i] ? context.slot(node.input(next++)) : -1;
            }
            return slots;
        }
    }

    public static Lowered lower(Lstm op, Node node, GpuLoweringContext context) {
        Inputs inputs = new Inputs(op.bias(), op.lengths(), op.initialHidden(), op.initialCell(), op.peephole());
        return lower(
                new Layer(
                        2,
                        op.direction(),
                        op.activations(),
                        op.clip(),
                        op.batchFirst(),
                        false,
                        op.inputForget(),
                        inputs),
                node,
                context);
    }

    public static Lowered lower(Gru op, Node node, GpuLoweringContext context) {
        Inputs inputs = new Inputs(op.bias(), op.lengths(), op.initialHidden(), false, false);
        return lower(
                new Layer(
                        1,
                        op.direction(),
                        op.activations(),
                        op.clip(),
                        op.batchFirst(),
                        op.linearBeforeReset(),
                        false,
                        inputs),
                node,
                context);
    }

    public static Lowered lower(Rnn op, Node node, GpuLoweringContext context) {
        Inputs inputs = new Inputs(op.bias(), op.lengths(), op.initialHidden(), false, false);
        return lower(
                new Layer(0, op.direction(), op.activations(), op.clip(), op.batchFirst(), false, false, inputs),
                node,
                context);
    }

    private static Lowered lower(Layer layer, Node node, GpuLoweringContext context) {
        Shape x = node.input(0).shape();
        Shape r = node.input(2).shape();
        DType dtype = node.output().dtype();
        long batch = x.size(layer.batchFirst ? 0 : 1);
        long steps = x.size(layer.batchFirst ? 1 : 0);
        if (batch == 0) {
            return new NoWork(node.op().mnemonic());
        }
        if (steps == 0) {
            return nothing(layer, node, context);
        }
        DeviceProperties device = context.kernels().context().device();
        RecurrentPlan.Layer sizes = new RecurrentPlan.Layer(
                layer.gates(),
                layer.directions(),
                batch,
                r.size(2),
                dtype.bytes(),
                dtype.accumulator().bytes());
        String refusal = tileRefusal(layer, sizes, steps, x, dtype, context);
        RecurrentPlan plan = refusal.isEmpty() ? RecurrentPlan.tile(sizes) : RecurrentPlan.of(sizes, device);
        if (plan == null) {
            return new NoKernel(node.op().mnemonic() + " takes hidden states that fit into shared memory, not "
                    + r.size(2) + " units");
        }
        return new Making(layer, plan, sizes, steps, refusal, node, context).step();
    }

    /** Why an LSTM's recurrence does not go through tensor cores; empty where it does. */
    private static String tileRefusal(
            Layer layer, RecurrentPlan.Layer sizes, long steps, Shape x, DType dtype, GpuLoweringContext context) {
        if (layer.cell != 2) {
            return "lstm_tile: it takes LSTMs";
        }
        long rows = SizeMath.product("recurrence", steps, sizes.batch());
        long gates = SizeMath.product("recurrence", layer.gates(), layer.directions(), sizes.hidden());
        String inputs = new WorkspaceProduct(rows, gates, x.size(2)).refusal(dtype, context);
        if (!inputs.isEmpty()) {
            return inputs.replaceFirst("^matmul_wmma", "lstm_tile");
        }
        DeviceProperties device = context.kernels().context().device();
        if (steps <= FEW_PHASES || !device.cooperativeLaunch()) {
            return "lstm_tile: " + (steps <= FEW_PHASES ? steps + " steps" : "blocks cannot meet")
                    + "; it takes a sequence in one launch";
        }
        String reason = RecurrentPlan.tileRefusal(sizes, device);
        return reason.isEmpty() ? "" : "lstm_tile: " + reason;
    }

    private static GpuStep nothing(Layer layer, Node node, GpuLoweringContext context) {
        int[] slots = layer.inputs.slots(node, context);
        long elements = node.outputs().get(1).shape().elements();
        Kernel kernel = context.kernels()
                .kernel(
                        StateCatalog.RECURRENT,
                        "recurrent_initial",
                        variant(layer, node.output().dtype()));
        PreparedLaunch call = PreparedLaunch.of(kernel, Grids.of(elements))
                .value(slots[2])
                .value(slots[3])
                .value(context.slot(node.outputs().get(1)))
                .value(layer.cell == 2 ? context.slot(node.outputs().get(2)) : -1)
                .add(elements)
                .build();
        return LaunchStep.of("recurrent_initial, no steps", call);
    }

    private static KernelVariant variant(Layer layer, DType dtype) {
        return StateCatalog.cell(layer.cell, dtype);
    }

    /** The step of a layer with steps, sequences and a plan. */
    private record Making(
            Layer layer,
            RecurrentPlan plan,
            RecurrentPlan.Layer sizes,
            long steps,
            String tileRefusal,
            Node node,
            GpuLoweringContext context) {
        GpuStep step() {
            long batch = sizes.batch();
            DType dtype = node.output().dtype();
            Shape x = node.input(0).shape();
            Shape r = node.input(2).shape();
            long stateBytes = dtype.accumulator().bytes();
            long gates = SizeMath.product("recurrence", layer.directions(), r.size(1));
            long rows = SizeMath.product("recurrence", steps, batch);
            long products = SizeMath.product("recurrence", rows, gates, stateBytes);
            long stateAt = Math.ceilDiv(products, 256L) * 256;
            long state = SizeMath.product("recurrence", STATES, layer.directions(), batch, r.size(2), stateBytes);
            List<PreparedLaunch> calls = new ArrayList<>();
            WorkspaceProduct product = new WorkspaceProduct(rows, gates, x.size(2));
            String refusal = product.refusal(dtype, context);
            calls.add(
                    refusal.isEmpty()
                            ? product.launch(context.slot(node.input(0)), context.slot(node.input(1)), context)
                            : inputs(product));
            DeviceProperties device = context.kernels().context().device();
            long phases = SizeMath.product("recurrence", steps, layer.phases());
            boolean apart = plan.blocks() > 1 && (phases <= FEW_PHASES || !device.cooperativeLaunch());
            long atOnce = plan.sharesAtOnce(sizes, device);
            for (long share = 0; share < plan.shares(); share += atOnce) {
                Part part = new Part(share, Math.min(atOnce, plan.shares() - share), stateAt);
                for (long phase = 0; apart && phase < phases; phase++) {
                    calls.add(walk(part, phase, phase + 1));
                }
                if (!apart) {
                    calls.add(walk(part, 0, phases));
                }
            }
            String where = plan.tiled() ? "registers" : plan.keeps() ? "shared memory" : "L2";
            String tier = (plan.tiled() ? "lstm_tile, " : "recurrent, ") + plan.blocks() + " blocks for each "
                    + plan.share() + " sequences, weights in " + where + ", "
                    + (apart ? "a launch a phase" : "one launch along the sequence")
                    + (refusal.isEmpty() ? ", inputs on tensor cores" : "");
            List<String> passed = Stream.of(tileRefusal, refusal)
                    .filter(text -> !text.isEmpty())
                    .toList();
            return new LaunchStep(
                            tier,
                            List.copyOf(calls),
                            SizeMath.sum("recurrence", stateAt, state),
                            2L * layer.directions() * plan.shares() * Integer.BYTES,
                            GpuStep::noResult)
                    .passing(passed);
        }

        /** Teams of each direction that a launch has, from {@code first} on, and where the state begins. */
        private record Part(long first, long shares, long stateAt) {}

        /** What the inputs add to the gates, in plain arithmetic. */
        private PreparedLaunch inputs(WorkspaceProduct product) {
            Kernel kernel = context.kernels()
                    .kernel(
                            StateCatalog.RECURRENT_INPUTS,
                            "recurrent_inputs",
                            KernelVariant.of(node.output().dtype()));
            LaunchShape shape = LaunchShape.of(
                    (int) Math.ceilDiv(product.n(), (long) TILE),
                    (int) Math.min(Math.ceilDiv(product.m(), (long) TILE), GridLimits.YZ),
                    1,
                    THREADS);
            return PreparedLaunch.of(kernel, shape)
                    .value(context.slot(node.input(0)))
                    .value(context.slot(node.input(1)))
                    .workspace(0)
                    .addAll(product.m(), product.n(), product.k())
                    .build();
        }

        private PreparedLaunch walk(Part part, long from, long to) {
            DType dtype = node.output().dtype();
            long blocks = plan.blocks() * part.shares * layer.directions();
            LaunchShape shape = LaunchShape.of((int) blocks, THREADS).withSharedBytes(plan.sharedBytes());
            if (plan.blocks() > 1 && to - from > 1) {
                shape = shape.withCooperative();
            }
            Kernel kernel = context.kernels()
                    .kernel(
                            plan.tiled() ? StateCatalog.LSTM_TILE : StateCatalog.RECURRENT,
                            plan.tiled() ? "lstm_tile" : "recurrent",
                            variant(layer, dtype),
                            plan.sharedBytes());
            PreparedLaunch.Builder call = PreparedLaunch.of(kernel, shape).value(context.slot(node.input(2)));
            for (int slot : layer.inputs.slots(node, context)) {
                call.value(slot);
            }
            return call.workspace(0)
                    .workspace(part.stateAt)
                    .value(context.slot(node.outputs().get(0)))
                    .value(context.slot(node.outputs().get(1)))
                    .value(layer.cell == 2 ? context.slot(node.outputs().get(2)) : -1)
                    .counters()
                    .struct(struct(part), Long.BYTES)
                    .addAll(from, to)
                    .build();
        }

        /** The struct Recurrence of recurrent.cuh. */
        private MemorySegment struct(Part part) {
            List<Long> words = new ArrayList<>(List.of(
                    steps,
                    sizes.batch(),
                    node.input(2).shape().size(2),
                    plan.wide(),
                    (long) layer.directions(),
                    plan.units(),
                    plan.blocks(),
                    plan.chunk(),
                    part.shares,
                    plan.share(),
                    part.first,
                    layer.direction == RnnDirection.REVERSE ? 1L : 0L,
                    layer.batchFirst ? 1L : 0L,
                    layer.linear ? 1L : 0L,
                    layer.coupled ? 1L : 0L,
                    plan.keeps() ? 1L : 0L,
                    (long) plan.group(),
                    Double.doubleToRawLongBits(layer.clip)));
            int each = layer.activations.size() / layer.directions();
            for (int table = 0; table < FUNCTIONS; table++) {
                for (int i = 0; i < 2 * FUNCTIONS; i++) {
                    int at = i / FUNCTIONS * each + i % FUNCTIONS;
                    boolean there = i % FUNCTIONS < each && at < layer.activations.size();
                    words.add(there ? word(layer.activations.get(at), table) : 0L);
                }
            }
            return MemorySegment.ofArray(
                            words.stream().mapToLong(Long::longValue).toArray())
                    .asReadOnly();
        }

        /** Of an activation its number, alpha or beta. */
        private static long word(RnnActivation activation, int table) {
            return switch (table) {
                case 0 -> activation.fn().code();
                case 1 -> Double.doubleToRawLongBits(activation.alpha());
                default -> Double.doubleToRawLongBits(activation.beta());
            };
        }
    }
}
