package dev.tenon.cuda.lower.elementwise;

import dev.tenon.cuda.kernel.ElementwiseKernels;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.KernelArguments;
import java.util.List;

/** One elementwise launch. */
final class GpuElementwiseStep implements GpuStep {
    private final ElementwiseKernels.Launch launch;
    private final int[] inputs;
    private final int output;
    private final int number;
    private final String tier;
    private final List<String> passedOver;

    GpuElementwiseStep(
            ElementwiseKernels.Launch launch,
            int[] inputs,
            int output,
            int number,
            String tier,
            List<String> passedOver) {
        this.launch = launch;
        this.inputs = inputs;
        this.output = output;
        this.number = number;
        this.tier = tier;
        this.passedOver = passedOver;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        KernelArguments arguments = frame.arguments().clear();
        for (int input : inputs) {
            arguments.add(frame.at(input));
        }
        launch.enqueue(frame.stream(), arguments, frame.at(output), frame.faults(), number);
    }

    @Override
    public String fault(long operand) {
        return GpuElementwiseLowering.fault(operand);
    }

    @Override
    public String tier() {
        return tier;
    }

    @Override
    public List<String> passedOver() {
        return passedOver;
    }
}
