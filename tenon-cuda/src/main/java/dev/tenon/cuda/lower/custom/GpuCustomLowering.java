package dev.tenon.cuda.lower.custom;

import dev.tenon.core.error.InputException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.custom.Custom;
import dev.tenon.core.ir.op.custom.DeviceArgument;
import dev.tenon.core.ir.op.custom.DeviceBody;
import dev.tenon.core.ir.op.custom.DeviceLaunch;
import dev.tenon.core.ir.op.custom.DeviceSource;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelSpec;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.Hash;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Steps of operations that a program defines: its kernels, compiled and cached as ours, its launches as it says. */
public final class GpuCustomLowering {
    private static final int DIGITS = 32;

    private GpuCustomLowering() {}

    public static Lowered lower(Custom op, Node node, GpuLoweringContext context) {
        List<TensorType> results = node.outputs().stream().map(Value::type).toList();
        if (results.stream().allMatch(type -> type.shape().elements() == 0)) {
            return new NoWork(op.mnemonic());
        }
        Optional<DeviceBody> body = op.definition()
                .deviceBody(
                        DeviceSource.CUDA,
                        node.inputs().stream().map(Value::type).toList(),
                        results);
        return body.isPresent()
                ? step(op, body.get(), node, context)
                : new NoKernel("the definition of " + op.mnemonic() + " gives no CUDA body for these types");
    }

    private static GpuStep step(Custom op, DeviceBody body, Node node, GpuLoweringContext context) {
        DeviceSource source = body.source();
        for (DeviceLaunch launch : body.launches()) {
            EntrySignature.check(op.mnemonic(), source, launch);
        }
        Hash hash = new Hash().add(source.name()).add(source.text());
        source.defines().forEach(hash::add);
        KernelVariant variant = new KernelVariant("_" + hash.hex().substring(0, DIGITS), DType.U8, source.defines());
        KernelFile file = new KernelFile(
                source.name(),
                body.launches().stream()
                        .map(DeviceLaunch::entry)
                        .distinct()
                        .map(entry -> new KernelSpec(source.name(), entry, List.of()))
                        .toList(),
                List.of(variant),
                source.text());
        List<LaunchStep.Work> works = new ArrayList<>();
        for (DeviceLaunch launch : body.launches()) {
            Kernel kernel = context.kernels().kernel(file, launch.entry(), variant, launch.sharedBytes());
            PreparedLaunch.Builder prepared = PreparedLaunch.of(kernel, shape(op, launch));
            launch.arguments().forEach(argument -> add(op, argument, body.workspaceBytes(), node, context, prepared));
            works.add(prepared.build());
        }
        String tier = "custom, " + source.name() + (works.size() == 1 ? "" : ", " + works.size() + " launches");
        return LaunchStep.of(tier, works, body.workspaceBytes())
                .withFaults(value -> op.definition().fault(value));
    }

    private static LaunchShape shape(Custom op, DeviceLaunch launch) {
        DeviceLaunch.Extent grid = launch.grid();
        DeviceLaunch.Extent block = launch.block();
        try {
            return new LaunchShape(
                    grid.x(),
                    grid.y(),
                    grid.z(),
                    block.x(),
                    block.y(),
                    block.z(),
                    launch.sharedBytes(),
                    false,
                    1,
                    false);
        } catch (IllegalArgumentException e) {
            throw new InputException(op.mnemonic() + ": " + launch.entry() + ": " + e.getMessage(), e);
        }
    }

    private static void add(
            Custom op,
            DeviceArgument argument,
            long bytes,
            Node node,
            GpuLoweringContext context,
            PreparedLaunch.Builder launch) {
        switch (argument) {
            case DeviceArgument.Input(int index) -> launch.value(slot(op, "input", index, node.inputs(), context));
            case DeviceArgument.Result(int index) -> launch.value(slot(op, "result", index, node.outputs(), context));
            case DeviceArgument.Workspace(long offset) -> launch.workspace(offset(op, offset, bytes));
            case DeviceArgument.I32(int value) -> launch.add(value);
            case DeviceArgument.I64(long value) -> launch.add(value);
            case DeviceArgument.F32(float value) -> launch.compute(DType.F32, value);
            case DeviceArgument.F64(double value) -> launch.add(value);
            case DeviceArgument.Faults() -> launch.faults(context);
        }
    }

    private static long offset(Custom op, long offset, long bytes) {
        if (offset < 0 || offset >= bytes) {
            throw new InputException(op.mnemonic() + ": a launch passes byte " + offset + " of a workspace of " + bytes
                    + "; expected one of its bytes");
        }
        return offset;
    }

    private static int slot(Custom op, String what, int index, List<Value> values, GpuLoweringContext context) {
        if (index < 0 || index >= values.size()) {
            throw new InputException(op.mnemonic() + ": a launch passes " + what + " " + index + "; expected 0 to "
                    + (values.size() - 1));
        }
        return context.slot(values.get(index));
    }
}
