package dev.tenon.cpu.signal;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.CpuStep;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** {@link Dft}: a unit is a run along the axis, transformed in double with tables that the step keeps. */
public final class DftStep extends LoopStep {
    private final Dft op;
    private final DType dtype;
    private final Shape x;
    private final Shape y;
    private final long inner;
    private final FastTransform transform;
    private final int input;
    private final int output;

    private DftStep(Dft op, Node node, CpuLoweringContext context) {
        List<TensorType> types = node.inputs().stream().map(Value::type).toList();
        super("mixed radices", op.units(types), op.unitCost(types) / 4);
        this.op = op;
        this.dtype = node.output().dtype();
        this.x = node.input(0).shape();
        this.y = node.output().shape();
        this.inner = x.elements(op.axis() + 1, x.rank() - 1);
        this.transform = FastTransform.of(SizeMath.toInt("dft", op.length()));
        this.input = context.slot(node.input(0));
        this.output = context.slot(node.output());
    }

    public static CpuStep lower(Dft op, Node node, CpuLoweringContext context) {
        return new DftStep(op, node, context);
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        FastTransform.Memory memory = transform.newMemory();
        for (long unit = from; unit < to; unit++) {
            read(frame.at(input), unit, memory.re, memory.im);
            if (op.inverse()) {
                transform.runInverse(memory);
            } else {
                transform.run(memory);
            }
            write(frame.at(output), unit, memory.re, memory.im);
        }
    }

    /** The first number of a unit's run. */
    private long start(long unit, Shape shape) {
        long together = shape.elements(op.axis(), shape.rank() - 1);
        return unit / inner * together + unit % inner;
    }

    private void read(MemorySegment from, long unit, double[] re, double[] im) {
        int length = (int) op.length();
        boolean complex = x.size(x.rank() - 1) == 2;
        boolean mirrored = op.onesided() && op.inverse();
        int there = (int) Math.min(x.size(op.axis()), mirrored ? length / 2 + 1 : length);
        long first = start(unit, x);
        for (int i = 0; i < there; i++) {
            long element = (first + i * inner) * (complex ? 2 : 1);
            re[i] = Doubles.get(dtype, from, element);
            im[i] = complex ? Doubles.get(dtype, from, element + 1) : 0;
        }
        for (int i = there; i < length; i++) {
            // what a real signal's spectrum has by symmetry
            boolean mirror = mirrored && length - i < there;
            re[i] = mirror ? re[length - i] : 0;
            im[i] = mirror ? -im[length - i] : 0;
        }
        if (mirrored) {
            im[0] = 0;
            im[length / 2] = length % 2 == 0 ? 0 : im[length / 2];
        }
    }

    private void write(MemorySegment to, long unit, double[] re, double[] im) {
        boolean complex = y.size(y.rank() - 1) == 2;
        double scale = op.inverse() ? 1.0 / (double) op.length() : 1;
        long first = start(unit, y);
        int count = SizeMath.toInt("dft", y.size(op.axis()));
        for (int i = 0; i < count; i++) {
            long element = (first + i * inner) * (complex ? 2 : 1);
            Doubles.set(dtype, to, element, re[i] * scale);
            if (complex) {
                Doubles.set(dtype, to, element + 1, im[i] * scale);
            }
        }
    }
}
