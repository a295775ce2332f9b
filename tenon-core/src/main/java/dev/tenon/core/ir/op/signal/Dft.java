package dev.tenon.core.ir.op.signal;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.InUnits;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.List;

/**
 * The discrete Fourier transform along an axis, of a length that the axis is cut or padded with zeros to; complex
 * numbers lie along the last axis, real part first.
 *
 * <p>[x [..., n, ..., 1 or 2]] → [y [..., m, ..., 2]] of x's float type:
 * {@code y[k] = sum over j of x[j] exp(-2 pi i j k / length)}; the inverse has the other sign and divides by the
 * length. {@code onesided} leaves out what follows by symmetry where x is real: m is then {@code length / 2 + 1}; its
 * inverse reads as many and gives real numbers, [..., length, ..., 1]. Worked out in float64. ONNX DFT-20.
 *
 * @param length 1 or more
 */
public record Dft(int axis, long length, boolean inverse, boolean onesided) implements InUnits {
    /** A transform keeps some twenty times its length on the heap for each thread. */
    private static final long LONGEST = 1 << 22;

    public Dft {
        Rules.fromFront("dft", axis);
        long asked = length;
        Expect.shape(asked >= 1 && asked <= LONGEST, "dft", () -> "length is " + asked + "; expected 1 to " + LONGEST);
    }

    @Override
    public Arity arity() {
        return Arity.exactly(1);
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        return List.of(Rules.sameFloat(mnemonic(), inputs));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape x = inputs.getFirst();
        checkParts(mnemonic(), x, axis);
        long half = length / 2 + 1;
        return List.of(x.with(axis, Dim.of(onesided && !inverse ? half : length))
                .with(x.rank() - 1, Dim.of(onesided && inverse ? 1 : 2)));
    }

    /** That the last axis holds real or complex numbers and is not the one to transform. */
    static void checkParts(String op, Shape x, int axis) {
        Rules.rankAtLeast(op, "x", x, 2);
        Expect.shape(
                axis < x.rank() - 1,
                op,
                () -> "axis " + axis + " of x " + x + "; expected 0 to " + (x.rank() - 2)
                        + ", the last axis holds the parts of complex numbers");
        Dim parts = x.dim(x.rank() - 1);
        Expect.shape(
                !parts.isFixed() || parts.is(1) || parts.is(2),
                op,
                () -> "x " + x + " has " + parts + " parts; expected 1 (real) or 2 (complex)");
    }

    /** A unit is a run along the axis. */
    @Override
    public long units(List<TensorType> inputs) {
        Shape x = inputs.getFirst().shape();
        return SizeMath.product(mnemonic(), x.elements(0, axis), x.elements(axis + 1, x.rank() - 1));
    }

    @Override
    public long unitCost(List<TensorType> inputs) {
        return length * (70 - Long.numberOfLeadingZeros(length));
    }

    @Override
    public void compute(Operands at, long from, long to) {
        Shape x = at.input(0).shape();
        Shape y = at.result(0).shape();
        int size = (int) length;
        FourierTransform transform = new FourierTransform(size, inverse);
        double[] re = new double[size];
        double[] im = new double[size];
        long inner = x.elements(axis + 1, x.rank() - 1);
        for (long unit = from; unit < to; unit++) {
            read(at, x, start(unit, x, inner), inner, re, im);
            transform.run(re, im);
            write(at, y, start(unit, y, inner), inner, re, im);
        }
    }

    /** The first element of a unit's run. */
    private long start(long unit, Shape shape, long inner) {
        long run = shape.elements(axis, shape.rank() - 1);
        return unit / inner * run + unit % inner;
    }

    private void read(Operands at, Shape x, long first, long stride, double[] re, double[] im) {
        long parts = x.size(x.rank() - 1);
        boolean mirrored = onesided && inverse;
        long there = Math.min(x.size(axis), mirrored ? length / 2 + 1 : length);
        for (int i = 0; i < re.length; i++) {
            boolean mirror = mirrored && i >= there && re.length - i < there;
            int from = mirror ? re.length - i : i;
            long element = (first + from * stride) * parts;
            re[i] = from < there ? at.get(0, element) : 0;
            im[i] = from < there && parts == 2 ? (mirror ? -1 : 1) * at.get(0, element + 1) : 0;
        }
        if (mirrored) {
            // what a real signal cannot have: numpy and the exporters' other libraries drop it as well
            im[0] = 0;
            im[re.length / 2] = re.length % 2 == 0 ? 0 : im[re.length / 2];
        }
    }

    private void write(Operands at, Shape y, long first, long stride, double[] re, double[] im) {
        long parts = y.size(y.rank() - 1);
        double scale = inverse ? 1.0 / length : 1;
        for (int i = 0; i < y.size(axis); i++) {
            long element = (first + i * stride) * parts;
            at.set(0, element, re[i] * scale);
            if (parts == 2) {
                at.set(0, element + 1, im[i] * scale);
            }
        }
    }
}
