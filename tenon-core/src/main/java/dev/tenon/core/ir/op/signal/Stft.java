package dev.tenon.core.ir.op.signal;

import dev.tenon.core.ir.Arity;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Deferred;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.OpBuilder;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.op.elementwise.Binary;
import dev.tenon.core.ir.op.indexing.Gather;
import dev.tenon.core.ir.op.movement.Reshape;
import dev.tenon.core.ir.rule.Expect;
import dev.tenon.core.ir.rule.Rules;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The {@link Dft} of frames that are cut out of a signal at regular distances and multiplied by a window. Frames that
 * would run past the end are left out.
 *
 * <p>[signal [B,n,1 or 2], distance i64, window? [frame], frame length? i64] → [y [B,frames,bins,2]], of the signal's
 * float type; there are {@code length / 2 + 1} bins with {@code onesided}, else {@code length}. The frame length is
 * that of the window where it is not given. ONNX STFT-17.
 */
public record Stft(boolean window, boolean length, boolean onesided) implements Deferred {
    /** Elements of all frames: their places are a constant. */
    private static final long MOST = 1 << 26;

    public Stft {
        boolean known = window || length;
        Expect.shape(known, "stft", () -> "has neither a window nor a frame length; expected one");
    }

    @Override
    public Arity arity() {
        return Arity.exactly(2 + (window ? 1 : 0) + (length ? 1 : 0));
    }

    @Override
    public List<DType> dtypes(List<DType> inputs) {
        Rules.counts(mnemonic(), "distance", inputs.get(1));
        List<DType> floats = new ArrayList<>(inputs.subList(0, 1));
        if (window) {
            floats.add(inputs.get(2));
        }
        if (length) {
            Rules.counts(mnemonic(), "frame length", inputs.getLast());
        }
        return List.of(Rules.sameFloat(mnemonic(), floats));
    }

    @Override
    public List<Shape> shapes(List<Shape> inputs) {
        Shape signal = inputs.getFirst();
        Rules.rank(mnemonic(), "signal", signal, 3);
        Dft.checkParts(mnemonic(), signal, 1);
        Rules.single(mnemonic(), "distance", inputs.get(1));
        if (window) {
            Rules.rank(mnemonic(), "window", inputs.get(2), 1);
        }
        if (length) {
            Rules.single(mnemonic(), "frame length", inputs.getLast());
        }
        return List.of(Shape.of(signal.dim(0), Dim.unknown(), Dim.unknown(), Dim.of(2)));
    }

    @Override
    public Set<Integer> neededValues() {
        return length ? Set.of(1, arity().min() - 1) : Set.of(1);
    }

    @Override
    public List<Value> resolve(OpBuilder g, List<Value> inputs, Known known) {
        Value signal = inputs.getFirst();
        long size = signal.shape().size(1);
        long frame =
                length ? known.single(arity().min() - 1) : inputs.get(2).shape().size(0);
        long distance = known.single(1);
        Expect.shape(
                distance >= 1 && frame >= 1 && frame <= size,
                mnemonic(),
                () -> "frames of " + frame + " every " + distance + " in a signal of " + size
                        + "; expected 1 or more, and frames no longer than the signal");
        if (window) {
            Expect.dim(mnemonic(), "window", inputs.get(2).shape(), 0, Dim.of(frame));
        }
        long frames = (size - frame) / distance + 1;
        Expect.shape(
                frames <= MOST / frame,
                mnemonic(),
                () -> frames + " frames of " + frame + "; expected at most " + MOST + " elements in all");
        NdArray places = NdArray.zeros(DType.I64, frames, frame);
        for (int i = 0; i < places.size(); i++) {
            places.set(i, i / frame * distance + i % frame);
        }
        Value cut = g.add(new Gather(1), signal, g.constant(places.toConstant()));
        Value weighted =
                window ? g.add(new Binary(BinaryFn.MUL), cut, g.add(Reshape.to(frame, 1), inputs.get(2))) : cut;
        return g.addAll(new Dft(2, frame, false, onesided), List.of(weighted));
    }
}
