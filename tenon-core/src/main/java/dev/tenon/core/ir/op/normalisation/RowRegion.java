package dev.tenon.core.ir.op.normalisation;

import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.Claimable;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.core.ir.op.reduction.Reduce;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An operation along rows, and the elementwise operations before and after it: {@code after(row(before(x...)), y...)}.
 * Made by fusion.
 *
 * <p>[x... as many as {@code operands}, the row operation's parameters, y...] → what {@code after} gives, or the row
 * operation. Types and shapes follow from each part's own rule. A device that runs it whole need not round what passes
 * from one part to the next to a short type.
 *
 * @param operands inputs that come before the parameters: those of {@code before}, else 1
 * @param before gives what the rows are; null for nothing
 * @param row a {@link Softmax}, {@link LogSoftmax}, {@link LayerNorm}, {@link RmsNorm} or {@link Reduce}
 * @param after of the row operation's result, which is its first input; null for nothing
 */
public record RowRegion(
        int operands,
        @Nullable Region before,
        Primitive row,
        @Nullable Region after) implements Claimable {
    private static final String NAME = "row_region";

    public RowRegion {
        if (!isRow(row)) {
            throw new ShapeException(NAME + ": " + row.mnemonic()
                    + " is no operation along rows; expected a softmax, norm or reduction");
        }
        if (operands < 1 || operands > Region.MAX_INPUTS || (before == null && operands != 1)) {
            throw new ShapeException(NAME + ": has " + operands + " operands; expected "
                    + (before == null ? "1" : "1 to " + Region.MAX_INPUTS));
        }
        if (before != null && before.results().size() != 1
                || after != null && after.results().size() != 1) {
            throw new ShapeException(NAME + ": a part has several results; expected one");
        }
    }

    /** Whether regions may stand before and after an operation. */
    public static boolean isRow(Primitive op) {
        return op instanceof Softmax
                || op instanceof LogSoftmax
                || op instanceof LayerNorm
                || op instanceof RmsNorm
                || op instanceof Reduce;
    }

    /** Where the parameters of the row operation end among the inputs. */
    public int parametersEnd() {
        return operands + row.arity().min() - 1;
    }

    /** The type of what the row operation reads, from those of the inputs. */
    public TensorType rowType(List<TensorType> inputs) {
        return before == null
                ? inputs.getFirst()
                : before.infer(inputs.subList(0, operands)).getFirst();
    }

    /** The first axis of a row, where the row operation goes along the last axes of a shape; else -1. */
    public int rowAxis(Shape shape) {
        int rank = shape.rank();
        return switch (row) {
            case Softmax(int axis) -> axis == rank - 1 ? axis : -1;
            case LogSoftmax(int axis) -> axis == rank - 1 ? axis : -1;
            case LayerNorm norm -> norm.axis();
            case RmsNorm norm -> norm.axis();
            case Reduce reduce -> {
                int first = rank - reduce.axes().size();
                yield first < rank && reduce.axes().stream().allMatch(axis -> axis >= first) ? first : -1;
            }
            default -> -1;
        };
    }

    @Override
    public Arity arity() {
        int least = parametersEnd();
        return new Arity(least, after == null ? least : least + Region.MAX_INPUTS - 1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        List<DType> row = row(inputs, before == null ? List.of() : before.dtypes(inputs.subList(0, operands)));
        List<DType> result = this.row.dtypes(row);
        return after == null ? result : after.dtypes(later(inputs, result));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        List<Shape> row = row(inputs, before == null ? List.of() : before.shapes(inputs.subList(0, operands)));
        List<Shape> result = this.row.shapes(row);
        return after == null ? result : after.shapes(later(inputs, result));
    }

    @Override
    public List<Value> decompose(OpBuilder g, List<Value> inputs) {
        List<Value> row = row(inputs, before == null ? List.of() : g.addAll(before, inputs.subList(0, operands)));
        List<Value> result = g.addAll(this.row, row);
        return after == null ? result : g.addAll(after, later(inputs, result));
    }

    /** What the row operation reads, given what was made before it. */
    private <T> List<T> row(List<T> inputs, List<T> made) {
        List<T> all = new ArrayList<>(made.isEmpty() ? inputs.subList(0, 1) : made);
        all.addAll(inputs.subList(operands, parametersEnd()));
        return all;
    }

    /** What the region after it reads. */
    private <T> List<T> later(List<T> inputs, List<T> result) {
        List<T> all = new ArrayList<>(result);
        all.addAll(inputs.subList(parametersEnd(), inputs.size()));
        return all;
    }
}
