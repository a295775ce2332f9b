package dev.tenon.cuda.lower.resident;

import dev.tenon.core.ir.ConstantData;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.resident.EncoderLayers.Layer;
import dev.tenon.cuda.lower.resident.EncoderLayers.Product;
import dev.tenon.cuda.lower.resident.EncoderLayers.Shape;
import dev.tenon.cuda.lower.step.WeightOrder.Fragments;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import java.util.stream.Stream;

/** How the layers of an encoder are spread over a device, in one launch. Immutable. */
sealed interface EncoderPlan permits LayersPlan, TilePlan {
    /** Layers of a launch. */
    int MOST_LAYERS = 26;

    /** Rows that blocks take together. */
    int TILE = 16;

    /** Shared memory that the driver keeps of each block's. */
    int RESERVED = 1024;

    /** Of L2, for weights. */
    double L2_PART = 0.9;

    int layers();

    LaunchShape launch();

    /** Bytes of the words that blocks hand to one another. */
    long wordBytes();

    /** How the weights of a layer lie: q, k and v, out, up, down. */
    List<Fragments> orders(Layer layer);

    /** What the struct Encoder of layers.cuh says of the plan: cuts, and places in shared memory. */
    List<Integer> sizes();

    /** Notes the kernel. */
    Kernel kernel(Kernels kernels);

    /** What it takes by the model. */
    double microseconds();

    /** Why no form takes an encoder; empty where some may. */
    static String refusal(EncoderLayers encoder, DType dtype, DeviceProperties device) {
        int layers = encoder.layers().size();
        if (layers > MOST_LAYERS) {
            return layers + " layers; it takes at most " + MOST_LAYERS;
        }
        boolean constant = encoder.layers().stream()
                .flatMap(layer -> Stream.of(layer.qkv(), layer.out(), layer.up(), layer.down()))
                .map(Product::weight)
                .allMatch(weight -> weight.value().constant() instanceof ConstantData.Dense);
        if (!constant) {
            return "weights that are no constants";
        }
        long weights = SizeMath.product("layers", weightBytes(encoder.shape(), dtype), layers);
        return weights > device.l2Bytes() * L2_PART ? weights + " bytes of weights; L2 has " + device.l2Bytes() : "";
    }

    /** Of a layer. */
    static long weightBytes(Shape shape, DType dtype) {
        return SizeMath.product("layers", 4 * shape.hidden() + 2 * shape.inner(), shape.hidden(), dtype.bytes());
    }

    /** Why a device has no room for all blocks at once; empty where it has. */
    static String room(LaunchShape launch, int registers, DeviceProperties device) {
        int bytes = launch.sharedBytes() + RESERVED;
        if (bytes > device.sharedBytesPerBlockOptIn()) {
            return "a block needs " + bytes + " bytes of shared memory; it has " + device.sharedBytesPerBlockOptIn();
        }
        int each = Math.min(
                device.sharedBytesPerMultiprocessor() / bytes,
                device.registersPerMultiprocessor() / (launch.blockX() * registers));
        long most = SizeMath.product("layers", device.multiprocessors(), each);
        return launch.gridX() > most ? launch.gridX() + " blocks; the device holds " + most + " at once" : "";
    }
}
