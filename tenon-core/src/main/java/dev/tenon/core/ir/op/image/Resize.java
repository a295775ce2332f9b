package dev.tenon.core.ir.op.image;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.reference.Windows;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * Resampling to {@code sizes} (one a dim) with {@code scales} (one a dim, as the formulas use them) and {@code roi}
 * (starts then ends, empty unless the coordinate mode crops). [x]. ONNX Resize-19.
 *
 * <p>Axis by axis, each element of the result is a weighted sum of elements around its coordinate in the input, as
 * {@link ResizeTaps} says; coordinates past the ends take the end element, save where {@code excludeOutside} leaves
 * them out or cropping gives {@code extrapolation}. {@code antialias} has no meaning for the nearest mode. The type is
 * x's; of integers the result is truncated.
 */
public record Resize(
        ResizeMode mode,
        CoordinateMode coordinates,
        NearestMode nearest,
        double cubicCoefficient,
        boolean excludeOutside,
        double extrapolation,
        boolean antialias,
        List<Double> scales,
        List<Long> sizes,
        List<Double> roi)
        implements Primitive {
    public Resize {
        List<Double> factors = List.copyOf(scales);
        List<Long> results = List.copyOf(sizes);
        List<Double> region = List.copyOf(roi);
        scales = factors;
        sizes = results;
        roi = region;
        Expect.shape(
                factors.size() == results.size() && Windows.atLeast(0, results),
                "resize",
                () -> "scales " + factors + " and sizes " + results + " need one element for each dim");
        Expect.shape(
                factors.stream().allMatch(scale -> scale > 0 && Double.isFinite(scale)),
                "resize",
                () -> "scales need to be finite and more than 0: " + factors);
        int ends = coordinates == CoordinateMode.TF_CROP_AND_RESIZE ? 2 * results.size() : 0;
        Expect.shape(
                region.size() == ends,
                "resize",
                () -> "roi " + region + " has " + region.size() + " elements; expected " + ends);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        DType dtype = inputs.getFirst();
        Expect.dtype(
                mode == ResizeMode.NEAREST || dtype.isNumeric(),
                mnemonic(),
                () -> "x is " + dtype + ", which only the nearest mode takes");
        return List.of(dtype);
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        Rules.rank(mnemonic(), "x", x, sizes.size());
        for (int axis = 0; axis < sizes.size(); axis++) {
            long size = sizes.get(axis);
            Expect.shape(
                    size == 0 || !x.dim(axis).is(0),
                    mnemonic(),
                    () -> "x " + x + " has no elements to make " + sizes + " of");
        }
        return List.of(Shape.ofSizes(sizes));
    }

    /** The taps along an axis of an input that has that many elements there. */
    public ResizeTaps taps(int axis, long input) {
        return new ResizeTaps(this, axis, input);
    }

    @Override
    public List<NdArray> evaluate(List<NdArray> inputs) {
        NdArray result = Rules.result(this, inputs);
        NdArray x = inputs.getFirst();
        // sums stay in float64 from axis to axis; the nearest mode only moves elements
        DType between = mode == ResizeMode.NEAREST ? x.dtype() : DType.F64;
        NdArray current = NdArray.zeros(new TensorType(between, x.shape()));
        for (int i = 0; i < x.size(); i++) {
            move(current, i, x, i);
        }
        for (int axis = 0; axis < sizes.size(); axis++) {
            current = resample(current, axis);
        }
        for (int i = 0; i < result.size(); i++) {
            move(result, i, current, i);
        }
        return List.of(result);
    }

    private static void move(NdArray to, int i, NdArray from, int j) {
        if (to.dtype() == from.dtype()) {
            to.copy(i, from, j);
        } else {
            to.set(i, from.get(j));
        }
    }

    private NdArray resample(NdArray from, int axis) {
        ResizeTaps taps = taps(axis, from.shape().size(axis));
        NdArray to = NdArray.zeros(new TensorType(from.dtype(), from.shape().with(axis, Dim.of(sizes.get(axis)))));
        int inner = SizeMath.toInt(
                "resize", from.shape().elements(axis + 1, from.shape().rank()));
        int outer = SizeMath.toInt("resize", from.shape().elements(0, axis));
        int input = SizeMath.toInt("resize", from.shape().size(axis));
        for (int element = 0; element < taps.size(); element++) {
            int[] indices = taps.indices(element);
            double[] weights = taps.weights(element);
            for (int o = 0; o < outer; o++) {
                for (int i = 0; i < inner; i++) {
                    int target = (o * taps.size() + element) * inner + i;
                    int source = o * input * inner + i;
                    if (indices.length == 0) {
                        to.set(target, extrapolation);
                    } else if (mode == ResizeMode.NEAREST) {
                        to.copy(target, from, source + indices[0] * inner);
                    } else {
                        double sum = 0;
                        for (int tap = 0; tap < indices.length; tap++) {
                            sum += weights[tap] * from.get(source + indices[tap] * inner);
                        }
                        to.set(target, sum);
                    }
                }
            }
        }
        return to;
    }
}
