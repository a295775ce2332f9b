package dev.tenon.core.compiler.fusion;

import dev.tenon.core.compiler.rewrite.Match;
import dev.tenon.core.compiler.rewrite.Pass;
import dev.tenon.core.compiler.rewrite.PassContext;
import dev.tenon.core.compiler.rewrite.Rewriter;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.convolution.Conv;
import dev.tenon.core.ir.op.convolution.FiniteWeights;
import dev.tenon.core.ir.op.movement.Pad;
import dev.tenon.core.ir.op.movement.PadMode;
import dev.tenon.core.ir.op.pooling.Pool;
import dev.tenon.core.ir.op.pooling.PoolFn;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * {@code conv(pad(x, zeros), w) → conv(x, w)} with the pads added up, where nothing else uses the padded value and w is
 * a constant of finite numbers: others would make NaN of the zeros, and leave the convolution's own padding alone. An
 * average that counts its padding, and a norm, take zeros in likewise.
 */
public final class FoldPads implements Pass {
    /** What windows may be padded by. */
    private static final long MOST = Integer.MAX_VALUE;

    @Override
    public String name() {
        return "fold-pads";
    }

    @Override
    public Graph apply(Graph graph, PassContext context) {
        return Rewriter.rewrite(graph, Set.of(Conv.class, Pool.class), FoldPads::fold);
    }

    private static @Nullable List<Value> fold(Node node, Rewriter into) {
        boolean windows = node.op() instanceof Conv || node.op() instanceof Pool;
        Node producer = windows ? Match.producer(node.input(0)) : null;
        if (producer == null || !(producer.op() instanceof Pad pad) || !into.isPrivate(node.input(0))) {
            return null;
        }
        boolean zeros = pad.mode() == PadMode.CONSTANT
                && (producer.inputs().size() == 1 || Match.isAll(producer.input(1), 0))
                && pad.before().subList(0, 2).stream().allMatch(amount -> amount == 0)
                && pad.after().subList(0, 2).stream().allMatch(amount -> amount == 0);
        Op folded = zeros ? folded(node, pad) : null;
        if (folded == null) {
            return null;
        }
        List<Value> operands = new ArrayList<>(into.map(node.inputs()));
        operands.set(0, into.map(producer.input(0)));
        Value y = into.addAll(folded, operands).getFirst();
        return y.type().mustEqual(node.output().type()) ? List.of(y) : null;
    }

    private static @Nullable Op folded(Node node, Pad pad) {
        return switch (node.op()) {
            case Conv op -> {
                List<Long> before = sums(pad.before(), op.padsBefore());
                List<Long> after = sums(pad.after(), op.padsAfter());
                boolean fits = fits(pad, before, after) && FiniteWeights.isFinite(node.input(1));
                yield fits ? new Conv(op.strides(), before, after, op.dilations(), op.groups(), op.epilogue()) : null;
            }
            case Pool op -> {
                List<Long> before = sums(pad.before(), op.padsBefore());
                List<Long> after = sums(pad.after(), op.padsAfter());
                boolean own = LongStream.concat(
                                op.padsBefore().stream().mapToLong(amount -> amount),
                                op.padsAfter().stream().mapToLong(amount -> amount))
                        .anyMatch(amount -> amount != 0);
                boolean counts = op.fn() == PoolFn.LP || (op.fn() == PoolFn.AVERAGE && (op.countPadding() || !own));
                yield counts && !op.ceil() && fits(pad, before, after) ? padded(op, before, after) : null;
            }
            default -> null;
        };
    }

    private static Pool padded(Pool op, List<Long> before, List<Long> after) {
        return new Pool(op.fn(), op.kernel(), op.strides(), before, after, op.dilations(), false, true, op.p());
    }

    /** Amounts of the spatial dims, with what windows add to them. */
    private static List<Long> sums(List<Long> amounts, List<Long> own) {
        List<Long> sums = new ArrayList<>();
        for (int i = 0; i < own.size(); i++) {
            sums.add(amounts.get(i + 2) + own.get(i));
        }
        return sums;
    }

    private static boolean fits(Pad pad, List<Long> before, List<Long> after) {
        return LongStream.concat(
                                pad.before().stream().mapToLong(amount -> amount),
                                pad.after().stream().mapToLong(amount -> amount))
                        .allMatch(amount -> amount >= 0)
                && LongStream.concat(
                                before.stream().mapToLong(amount -> amount),
                                after.stream().mapToLong(amount -> amount))
                        .allMatch(amount -> amount <= MOST);
    }
}
