package dev.tenon.cuda.lower.elementwise;

import dev.tenon.cuda.kernel.FusedRegion;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.port.KernelArguments;
import java.util.List;

/** One launch of a compiled region. */
final class FusedStep implements GpuStep {
    private final FusedRegion.Launch launch;
    private final int[] slots;
    private final int number;
    private final String tier;
    private final List<String> passedOver;

    /** @param slots of the inputs and after them of the outputs */
    FusedStep(FusedRegion.Launch launch, int[] slots, int number, String tier, List<String> passedOver) {
        this.launch = launch;
        this.slots = slots;
        this.number = number;
        this.tier = tier;
        this.passedOver = passedOver;
    }

    @Override
    public void enqueue(GpuFrame frame) {
        KernelArguments arguments = frame.arguments();
        launch.begin(arguments);
        for (int i = 0; i < slots.length; i++) {
            arguments.word(i, frame.at(slots[i]));
        }
        launch.enqueue(frame.stream(), arguments, frame.faults(), number);
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
