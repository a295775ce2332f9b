package dev.tenon.cuda.lower.resident;

import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.LaunchShape;

/** The launch of an encoder's layers. What blocks hand to one another lies in its workspace. Immutable. */
final class LayersStep implements GpuStep {
    private static final int COUNTERS = 2;

    private final Kernel kernel;
    private final LaunchShape shape;
    private final LayersWords words;
    private final long workspaceBytes;
    private final String tier;

    private LayersStep(Kernel kernel, EncoderPlan plan, LayersWords words, int steps) {
        this.kernel = kernel;
        this.shape = plan.launch();
        this.words = words;
        this.workspaceBytes = plan.wordBytes();
        this.tier = "resident: " + steps + " steps as " + plan.layers()
                + (plan.layers() == 1 ? " layer, " : " layers, ") + shape.gridX() + " blocks";
    }

    /**
     * The step of an encoder that is not refused.
     *
     * @param steps nodes that it does
     */
    static LayersStep of(EncoderLayers encoder, EncoderPlan plan, int steps, GpuLoweringContext context) {
        Kernel kernel = plan.kernel(context.kernels());
        return new LayersStep(kernel, plan, new LayersWords(encoder, plan, context), steps);
    }

    @Override
    public void enqueue(GpuFrame frame) {
        frame.stream()
                .launch(kernel.function(), shape, words.fill(frame.arguments().clear(), frame));
    }

    @Override
    public String tier() {
        return tier;
    }

    @Override
    public long workspaceBytes() {
        return workspaceBytes;
    }

    @Override
    public long counterBytes() {
        return (long) COUNTERS * Integer.BYTES;
    }
}
