package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.signal.DftBy;
import dev.tenon.core.ir.op.signal.MelWeights;
import dev.tenon.core.ir.op.signal.Stft;
import java.util.ArrayList;
import java.util.List;

/** Spectra. */
final class SignalMapping {
    private SignalMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "DFT" -> dft(n);
                    case "STFT" -> stft(n);
                    case "MelWeightMatrix" ->
                        n.add(
                                new MelWeights(n.attrType("output_datatype", DType.F32)),
                                n.in(0),
                                n.in(1),
                                n.in(2),
                                n.in(3),
                                n.in(4));
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    /** The axis is an attribute, since operator set 20 an input. */
    private static Value dft(NodeContext n) {
        Value axis = n.since(20) ? n.has(2) ? n.in(2) : n.longScalar(-2) : n.longScalar(n.attrInt("axis", 1));
        List<Value> operands = new ArrayList<>(List.of(n.in(0), axis));
        if (n.has(1)) {
            operands.add(n.in(1));
        }
        DftBy op = new DftBy(n.attrFlag("inverse", false), n.attrFlag("onesided", false), n.has(1));
        return n.addAll(op, operands).getFirst();
    }

    private static Value stft(NodeContext n) {
        List<Value> operands = new ArrayList<>(List.of(n.in(0), n.in(1)));
        if (n.has(2)) {
            operands.add(n.in(2));
        }
        if (n.has(3)) {
            operands.add(n.in(3));
        }
        return n.addAll(new Stft(n.has(2), n.has(3), n.attrFlag("onesided", true)), operands)
                .getFirst();
    }
}
