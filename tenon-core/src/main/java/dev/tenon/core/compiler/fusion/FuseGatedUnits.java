package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.contraction.Epilogue;
import dev.tenon.core.ir.op.contraction.MatMul;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.elementwise.Unary;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code f(a) * b → gated_unit(x)} where a and b are the halves of x's last axis, in either order, and the backend runs
 * that; and {@code f(x wa + ba) * (x wb + bb) → gated_unit(x [wa wb] + [ba bb])} of constant weights of rank 2, so that
 * x is read once. f may be spelled {@code a * sigmoid(a)}, which is silu but at -inf, where silu has its limit.
 */
public final class FuseGatedUnits implements Pass {
    /** A function and what it is of. */
    private record Gate(Unary activation, Value of) {}

    @Override
    public String name() {
        return "fuse-gated-units";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return context.mayClaim(GatedUnit.class)
                ? Rewriter.rewrite(graph, Set.of(Binary.class, Region.class), (node, into) -> fuse(node, into, context))
                : graph;
    }

    private static @Nullable List<Value> fuse(Node node, Rewriter into, PassContext context) {
        if (node.op() instanceof Region region) {
            return ofRegion(region, node, into, context);
        }
        if (!isProduct(node)) {
            return null;
        }
        for (int side = 0; side < 2; side++) {
            Value gated = node.input(side);
            Value other = node.input(1 - side);
            if (!gated.type().mustEqual(node.output().type())
                    || !other.type().mustEqual(node.output().type())) {
                return null;
            }
            Gate gate = gate(gated, into);
            List<Value> fused = gate == null ? null : halves(gate, other, into, context);
            fused = fused == null ? products(gated, gate, other, into, context) : fused;
            if (fused != null) {
                return fused;
            }
        }
        return null;
    }

    private static boolean isProduct(Node node) {
        return isProduct(node.op()) && node.output().dtype().isFloat();
    }

    private static boolean isProduct(Op op) {
        return op instanceof Binary(BinaryFn fn) && fn == BinaryFn.MUL;
    }

    /** Of a region that is such a product: it was made before the sizes of the halves were known. */
    private static @Nullable List<Value> ofRegion(Region region, Node node, Rewriter into, PassContext context) {
        int inputs = node.inputs().size();
        int last = region.steps().size() - 1;
        Region.Step product = region.steps().get(last);
        if (!region.results().equals(List.of(last)) || !isProduct(product.op())) {
            return null;
        }
        for (int side = 0; side < 2; side++) {
            int other = product.arguments().get(1 - side);
            int of = gateOf(region, product.arguments().get(side), inputs);
            boolean floats = node.output().dtype().isFloat()
                    && of >= 0
                    && other < inputs
                    && node.input(of).dtype() == node.output().dtype();
            if (floats) {
                boolean silu = last == 2;
                Unary activation =
                        silu ? Unary.silu() : (Unary) region.steps().getFirst().op();
                return halves(new Gate(activation, node.input(of)), node.input(other), into, context);
            }
        }
        return null;
    }

    /** The input that a function is of, the only other step of a region, or two that spell silu; negative for none. */
    private static int gateOf(Region region, int argument, int inputs) {
        int last = region.steps().size() - 1;
        if (argument != inputs + last - 1) {
            return -1;
        }
        Region.Step first = region.steps().getFirst();
        int of = first.op() instanceof Unary ? first.arguments().getFirst() : inputs;
        boolean one = last == 1 && of < inputs;
        boolean silu = last == 2
                && of < inputs
                && ((Unary) first.op()).fn() == UnaryFn.SIGMOID
                && isProduct(region.steps().get(1).op())
                && region.steps().get(1).arguments().containsAll(List.of(of, inputs));
        return one || silu ? of : -1;
    }

    /** What a value that nothing else uses is a function of; null for any other. */
    private static @Nullable Gate gate(Value value, Rewriter into) {
        Node node = Match.producer(value);
        if (node == null || !into.isPrivate(value)) {
            return null;
        }
        if (node.op() instanceof Unary unary && node.input(0).type().mustEqual(value.type())) {
            return new Gate(unary, node.input(0));
        }
        for (int side = 0; isProduct(node) && side < 2; side++) {
            Node sigmoid = LastPart.producer(node.input(side), Unary.class);
            boolean silu = sigmoid != null
                    && ((Unary) sigmoid.op()).fn() == UnaryFn.SIGMOID
                    && sigmoid.input(0).equals(node.input(1 - side))
                    && into.isPrivate(node.input(side));
            if (silu) {
                return new Gate(Unary.silu(), node.input(1 - side));
            }
        }
        return null;
    }

    private static @Nullable List<Value> halves(Gate gate, Value other, Rewriter into, PassContext context) {
        LastPart one = LastPart.of(gate.of);
        LastPart two = LastPart.of(other);
        boolean fits = one != null
                && two != null
                && one.whole().equals(two.whole())
                && one.size() == two.size()
                && Math.min(one.from(), two.from()) == 0
                && Math.max(one.from(), two.from()) == one.size()
                && one.whole().shape().dim(one.whole().shape().rank() - 1).is(2 * one.size());
        return fits && one != null
                ? claimed(new GatedUnit(gate.activation, one.from() > 0), into.map(one.whole()), into, context)
                : null;
    }

    private static @Nullable List<Value> claimed(GatedUnit op, Value x, Rewriter into, PassContext context) {
        List<Value> results = into.addAll(op, List.of(x));
        return context.claimed(results.getFirst()) ? results : null;
    }

    /** Of two products of one x that differ in their constants alone, but for the activation. */
    private static @Nullable List<Value> products(
            Value gated, @Nullable Gate gate, Value other, Rewriter into, PassContext context) {
        Node one = product(gate == null ? gated : gate.of);
        Node two = product(other);
        if (one == null || two == null || !into.isPrivate(gated) || !into.isPrivate(other)) {
            return null;
        }
        MatMul first = (MatMul) one.op();
        MatMul second = (MatMul) two.op();
        Unary own = first.epilogue().activation();
        Unary activation = gate == null ? own : own == null && isUsedHereAlone(gate, into) ? gate.activation : null;
        MatMul plain = first.with(new Epilogue(first.epilogue().bias(), null, false, false));
        boolean alike = plain.equals(second)
                && one.input(0).equals(two.input(0))
                && one.input(1).type().equals(two.input(1).type());
        if (activation == null || !alike) {
            return null;
        }
        List<Value> operands = new ArrayList<>();
        operands.add(into.map(one.input(0)));
        operands.add(joined(one, two, 1, plain.transposeB() ? 0 : 1, into, context));
        if (plain.epilogue().bias()) {
            operands.add(joined(one, two, 2, 0, into, context));
        }
        return claimed(
                new GatedUnit(activation, false), into.addAll(plain, operands).getFirst(), into, context);
    }

    /** Whether nothing but a gate reads what it is of: the spelled silu reads it twice. */
    private static boolean isUsedHereAlone(Gate gate, Rewriter into) {
        return !into.isOutput(gate.of) && into.reads(gate.of) <= (gate.activation.fn() == UnaryFn.SILU ? 2 : 1);
    }

    /** The product with constants that makes a value, without a residual. */
    private static @Nullable Node product(Value value) {
        Node node = LastPart.producer(value, MatMul.class);
        if (node == null) {
            return null;
        }
        Shape weight = node.input(1).shape();
        Epilogue epilogue = ((MatMul) node.op()).epilogue();
        boolean fits = !epilogue.residual()
                && weight.isRanked()
                && weight.rank() == 2
                && value.shape().isRanked()
                && value.shape().rank() >= 2
                && node.inputs().stream().skip(1).allMatch(input -> input.constant() != null);
        return fits ? node : null;
    }

    private static Value joined(Node one, Node two, int input, int axis, Rewriter into, PassContext context) {
        List<ConstantData> parts = new ArrayList<>();
        for (Node product : List.of(one, two)) {
            if (product.input(input).origin() instanceof Value.Origin.Constant(ConstantData data)) {
                parts.add(data);
            }
        }
        return into.constant(context.constants().joined(parts, axis));
    }
}
