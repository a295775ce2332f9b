package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.lower.resident.ResidentPhase.Kind;
import dev.tenon.cuda.lower.resident.ResidentPhase.Operands;
import dev.tenon.cuda.lower.resident.ResidentPhase.Rows;
import dev.tenon.cuda.lower.resident.ResidentPhase.Sizes;
import dev.tenon.cuda.lower.resident.ResidentPhase.Weight;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The layers of a transformer encoder that the phases of a segment are, as one launch makes them: attention and
 * feed-forward, each with its residual and a norm behind it.
 *
 * @param x what the first layer reads
 * @param before the norm of x that the first layer starts with; null for none
 * @param y what the last norm makes
 * @param wide whether y is f32 though the rest is not
 */
record EncoderLayers(List<Layer> layers, Value x, @Nullable Norm before, Value y, boolean wide, Shape shape) {
    /** A product with its bias. */
    record Product(Weight weight, Value bias) {}

    record Norm(Value scale, Value shift, double epsilon) {}

    /** The mask of attention, its dims as in {@link ResidentPhase}, and what scores are scaled by. */
    record Scores(@Nullable Value mask, int maskDims, double factor) {}

    /** @param activation between up and down; null for none */
    record Layer(
            Product qkv,
            Scores scores,
            Product out,
            Norm first,
            Product up,
            @Nullable Unary activation,
            Product down,
            Norm second) {}

    /**
     * Sizes.
     *
     * @param keys tokens of a sequence
     * @param inner columns between both products of the feed-forward
     * @param head elements of a head
     */
    record Shape(long rows, long keys, long hidden, long inner, long heads, int head) {}

    EncoderLayers {
        layers = List.copyOf(layers);
    }

    /** What a segment is; null where its phases are anything else. */
    static @Nullable EncoderLayers of(ResidentSegment segment) {
        return new Reader(segment).read();
    }

    /** Goes through the phases of a segment. */
    private static final class Reader {
        private final ResidentSegment segment;
        private final List<ResidentPhase> phases;
        private final List<Layer> layers = new ArrayList<>();
        private int at;

        Reader(ResidentSegment segment) {
            this.segment = segment;
            this.phases = segment.phases();
        }

        @Nullable
        EncoderLayers read() {
            ResidentPhase first = phases.getFirst();
            ResidentPhase last = phases.getLast();
            Shape shape = shape();
            if (shape == null || last.kind() != Kind.NORM || !keepsAllElse(last)) {
                return null;
            }
            while (at < phases.size() - 1) {
                Layer layer = layer(shape);
                if (layer == null) {
                    return null;
                }
                layers.add(layer);
            }
            Norm before = first.source() == Rows.NORM ? norm(first) : null;
            return new EncoderLayers(
                    layers, first.at().x(), before, last.at().y(), last.sizes().wide(), shape);
        }

        /** Whether nothing outside reads what phases make, but for the last one. */
        private boolean keepsAllElse(ResidentPhase last) {
            Set<Value> made = new HashSet<>();
            for (ResidentPhase phase : phases) {
                made.add(phase.at().y());
                Value normed = phase.at().normed();
                if (normed != null) {
                    made.add(normed);
                }
            }
            made.remove(last.at().y());
            return segment.inside().containsAll(made);
        }

        private @Nullable Shape shape() {
            ResidentPhase seeing = phases.stream()
                    .filter(phase -> phase.sizes().head() > 0)
                    .findFirst()
                    .orElse(null);
            ResidentPhase up = phases.stream()
                    .skip(1) // q, k and v of the first layer may be of norms too
                    .filter(phase -> phase.kind() == Kind.PRODUCT && phase.source() == Rows.NORM)
                    .findFirst()
                    .orElse(null);
            if (seeing == null || up == null) {
                return null;
            }
            long hidden = phases.getFirst().sizes().k();
            int head = seeing.sizes().head();
            return new Shape(
                    seeing.sizes().rows(),
                    seeing.sizes().keys(),
                    hidden,
                    up.sizes().n(),
                    hidden / head,
                    head);
        }

        /** The layer that begins here, with the norm that the phase behind it begins with. */
        private @Nullable Layer layer(Shape shape) {
            ResidentPhase qkv = next();
            ResidentPhase seeing = next();
            ResidentPhase out = seeing != null && seeing.kind() == Kind.ATTENTION ? next() : seeing;
            ResidentPhase up = next();
            ResidentPhase down = next();
            ResidentPhase behind = at < phases.size() ? phases.get(at) : null;
            if (qkv == null || seeing == null || out == null || up == null || down == null || behind == null) {
                return null;
            }
            Value entry =
                    qkv.source() == Rows.NORM ? qkv.at().normed() : qkv.at().x();
            Value middle = up.at().normed();
            Product first = product(qkv, 3 * shape.hidden, shape.hidden, null);
            Product second = product(out, shape.hidden, shape.hidden, entry);
            Product third = product(up, shape.inner, shape.hidden, null);
            Product fourth = product(down, shape.hidden, shape.inner, middle);
            boolean fits = entry != null
                    && middle != null
                    && (qkv.source() == Rows.NORM || layers.isEmpty() && qkv.source() == Rows.PLAIN)
                    && sees(seeing, out, qkv, shape)
                    && up.source() == Rows.NORM
                    && up.at().x() == out.at().y()
                    && down.source() == Rows.PLAIN
                    && down.at().x() == up.at().y()
                    && (behind.kind() == Kind.NORM || behind.source() == Rows.NORM)
                    && behind.at().x() == down.at().y()
                    && qkv.activation() == null
                    && out.activation() == null
                    && down.activation() == null;
            if (!fits || first == null || second == null || third == null || fourth == null) {
                return null;
            }
            Scores scores = new Scores(seeing.at().scale(), seeing.maskDims(), seeing.factor());
            return new Layer(first, scores, second, norm(up), third, up.activation(), fourth, norm(behind));
        }

        private @Nullable ResidentPhase next() {
            return at < phases.size() ? phases.get(at++) : null;
        }

        /** Whether heads of what one product makes are what another one reads, as a phase of its own or within it. */
        private static boolean sees(ResidentPhase seeing, ResidentPhase out, ResidentPhase qkv, Shape shape) {
            Sizes sizes = seeing.sizes();
            boolean here = seeing.kind() != Kind.ATTENTION
                    ? out.source() == Rows.ATTENTION
                    : sizes.n() == shape.heads
                            && out.source() == Rows.PLAIN
                            && out.at().x() == seeing.at().y();
            return here
                    && seeing.at().x() == qkv.at().y()
                    && sizes.head() == shape.head
                    && sizes.keys() == shape.keys
                    && shape.heads * shape.head == shape.hidden;
        }

        private static @Nullable Product product(ResidentPhase phase, long n, long k, @Nullable Value residual) {
            Operands own = phase.at();
            boolean fits = phase.kind() == Kind.PRODUCT
                    && phase.sizes().n() == n
                    && phase.sizes().k() == k
                    && own.residual() == residual;
            return fits && own.weight() != null && own.bias() != null ? new Product(own.weight(), own.bias()) : null;
        }

        private static Norm norm(ResidentPhase phase) {
            return new Norm(
                    Objects.requireNonNull(phase.at().scale()),
                    Objects.requireNonNull(phase.at().shift()),
                    phase.factor());
        }
    }
}
