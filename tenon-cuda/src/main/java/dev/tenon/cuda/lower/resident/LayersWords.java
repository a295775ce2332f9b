package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.elementwise.Unary;
import dev.tenon.cuda.lower.resident.EncoderLayers.Layer;
import dev.tenon.cuda.lower.resident.EncoderLayers.Norm;
import dev.tenon.cuda.lower.resident.EncoderLayers.Shape;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.KernelArguments;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The struct Encoder of layers.cuh: words that are known, and places of addresses that a frame knows. Immutable. */
final class LayersWords {
    private static final int LAYER_WORDS = 16;
    private static final int FIRST_OF_TAIL = EncoderPlan.MOST_LAYERS * LAYER_WORDS;
    private static final int ALL = FIRST_OF_TAIL + 24;

    /** Words behind the layers. */
    private static final int HANDED = FIRST_OF_TAIL + 2;

    private static final int COUNTERS = FIRST_OF_TAIL + 3;
    private static final int BEFORE = FIRST_OF_TAIL + 4;
    private static final int SIZES = FIRST_OF_TAIL + 6;

    private record Address(int word, int slot) {}

    private final long[] words = new long[ALL];
    private final List<Address> addresses = new ArrayList<>();

    LayersWords(EncoderLayers encoder, EncoderPlan plan, GpuLoweringContext context) {
        for (int i = 0; i < encoder.layers().size(); i++) {
            addLayer(i * LAYER_WORDS, encoder.layers().get(i), plan, context);
        }
        address(FIRST_OF_TAIL, encoder.x(), context);
        address(FIRST_OF_TAIL + 1, encoder.y(), context);
        Norm before = encoder.before();
        if (before != null) {
            address(BEFORE, before.scale(), context);
            address(BEFORE + 1, before.shift(), context);
        }
        List<Integer> sizes = sizes(encoder, plan.sizes());
        for (int i = 0; i < sizes.size(); i += 2) {
            words[SIZES + i / 2] = pair(sizes.get(i), sizes.get(i + 1));
        }
    }

    private static List<Integer> sizes(EncoderLayers encoder, List<Integer> planned) {
        Shape shape = encoder.shape();
        Norm before = encoder.before();
        List<Integer> sizes = new ArrayList<>(List.of(
                encoder.layers().size(),
                (int) shape.rows(),
                (int) shape.keys(),
                (int) shape.hidden(),
                (int) shape.inner(),
                (int) shape.heads(),
                encoder.wide() ? 1 : 0,
                0));
        sizes.addAll(planned);
        sizes.addAll(List.of(bits(before == null ? 0 : before.epsilon()), 0, 0));
        return sizes;
    }

    private void addLayer(int base, Layer layer, EncoderPlan plan, GpuLoweringContext context) {
        List<Fragments> orders = plan.orders(layer);
        List<EncoderLayers.Product> products = List.of(layer.qkv(), layer.out(), layer.up(), layer.down());
        for (int i = 0; i < products.size(); i++) {
            Value weight = products.get(i).weight().value();
            addresses.add(new Address(base + i, context.orderedSlot(weight, orders.get(i))));
            address(base + products.size() + i, products.get(i).bias(), context);
        }
        int at = base + 2 * products.size();
        address(at, layer.first().scale(), context);
        address(at + 1, layer.first().shift(), context);
        address(at + 2, layer.second().scale(), context);
        address(at + 3, layer.second().shift(), context);
        address(at + 4, layer.scores().mask(), context);
        Unary activation = layer.activation();
        words[at + 5] = pair(layer.scores().maskDims(), bits(layer.scores().factor()));
        words[at + 6] = pair(bits(layer.first().epsilon()), bits(layer.second().epsilon()));
        words[at + 7] = pair(
                activation == null ? 0 : activation.fn().code(), bits(activation == null ? 0 : activation.alpha()));
    }

    private void address(int word, @Nullable Value value, GpuLoweringContext context) {
        if (value != null) {
            addresses.add(new Address(word, context.slot(value)));
        }
    }

    /** Adds the struct to a slab. */
    KernelArguments fill(KernelArguments slab, GpuFrame frame) {
        slab.addWords(ALL);
        for (int i = 0; i < ALL; i++) {
            slab.word(i, words[i]);
        }
        for (Address address : addresses) {
            slab.word(address.word, frame.at(address.slot));
        }
        return slab.word(HANDED, frame.workspace()).word(COUNTERS, frame.counters());
    }

    private static int bits(double value) {
        return Float.floatToRawIntBits((float) value);
    }

    private static long pair(int low, int high) {
        return (low & 0xffffffffL) | (long) high << Integer.SIZE;
    }
}
