package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.random.Bernoulli;
import dev.tenon.core.ir.op.random.Multinomial;
import dev.tenon.core.ir.op.random.Random;
import dev.tenon.core.ir.op.random.RandomFn;
import dev.tenon.core.ir.op.random.RandomTo;
import java.util.List;

/**
 * Random numbers. A node without a seed gets one from its name: a model gives the same numbers in every run and on
 * every device.
 */
final class RandomMapping {
    private RandomMapping() {}

    static List<Value> map(NodeContext n) {
        return List.of(
                switch (n.op()) {
                    case "RandomUniform", "RandomNormal" -> {
                        Parameters p = Parameters.of(n);
                        DType dtype = n.attrType("dtype", DType.F32);
                        if (!n.hasAttr("shape")) {
                            throw n.error("the attribute \"shape\" is missing");
                        }
                        List<Long> sizes = n.attrInts("shape");
                        yield n.add(new Random(p.fn, dtype, sizes, p.a, p.b, seed(n), false));
                    }
                    case "RandomUniformLike", "RandomNormalLike" -> {
                        Parameters p = Parameters.of(n);
                        DType dtype = n.attrType("dtype", n.in(0).dtype());
                        yield n.add(new RandomTo(p.fn, dtype, p.a, p.b, seed(n)), ShapeChanges.sizes(n, n.in(0)));
                    }
                    case "Bernoulli" ->
                        n.add(new Bernoulli(n.attrType("dtype", n.in(0).dtype()), seed(n)), n.in(0));
                    case "Multinomial" ->
                        n.add(
                                new Multinomial(n.attrInt("sample_size", 1), n.attrType("dtype", DType.I32), seed(n)),
                                n.in(0));
                    default -> throw OnnxOps.unlisted(n);
                });
    }

    private record Parameters(RandomFn fn, double a, double b) {
        static Parameters of(NodeContext n) {
            return n.op().startsWith("RandomUniform")
                    ? new Parameters(RandomFn.UNIFORM, n.attrFloat("low", 0), n.attrFloat("high", 1))
                    : new Parameters(RandomFn.NORMAL, n.attrFloat("mean", 0), n.attrFloat("scale", 1));
        }
    }

    private static long seed(NodeContext n) {
        return n.hasAttr("seed")
                ? Float.floatToRawIntBits((float) n.attrFloat("seed", 0))
                : Integer.toUnsignedLong(n.label().hashCode());
    }
}
