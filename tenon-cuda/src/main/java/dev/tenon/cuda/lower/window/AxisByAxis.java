package dev.tenon.cuda.lower.window;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.image.Resize;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelFiles;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.kernel.file.TypeCodes;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.Workspace;
import java.util.ArrayList;
import java.util.List;

/** A resampling of one axis after the other, for kernels of many taps and for many axes. */
final class AxisByAxis {
    private final Resize op;
    private final Node node;
    private final GpuLoweringContext context;
    private final ResizeTables tables;
    private final DType dtype;

    /** @param tables of at least one axis */
    AxisByAxis(Resize op, Node node, GpuLoweringContext context, ResizeTables tables) {
        this.op = op;
        this.node = node;
        this.context = context;
        this.tables = tables;
        this.dtype = node.output().dtype();
    }

    LaunchStep step() {
        KernelVariant variant = KernelFiles.typed(dtype);
        Workspace workspace = new Workspace();
        workspace.take(tables.bytes());
        List<PreparedLaunch> launches = new ArrayList<>();
        GpuResizeLowering.addTables(launches, context.kernels(), variant, op, tables);
        Shape shape = node.input(0).shape();
        int count = tables.axes().size();
        long from = -1;
        long fromBytes = 0;
        for (int i = 0; i < count; i++) {
            int axis = tables.axes().get(i);
            shape = shape.with(axis, Dim.of(op.sizes().get(axis)));
            boolean last = i == count - 1;
            long toBytes =
                    last ? 0 : SizeMath.product("resize", shape.elements(), GpuResizeLowering.numberBytes(dtype));
            long to = last ? -1 : workspace.take(toBytes);
            launches.add(launch(i, shape, from, to, variant));
            if (from >= 0) {
                workspace.release(from, fromBytes);
            }
            from = to;
            fromBytes = toBytes;
        }
        return LaunchStep.of("resize_axis, " + count + " axes one by one", launches, workspace.bytes());
    }

    /** @param from where the sums of the axes before lie, -1 for x itself; {@code to} likewise */
    private PreparedLaunch launch(int index, Shape result, long from, long to, KernelVariant variant) {
        int axis = tables.axes().get(index);
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                context.kernels().kernel(WindowCatalog.RESIZE, "resize_axis", variant), Grids.of(result.elements()));
        if (from < 0) {
            launch.value(context.slot(node.input(0)));
        } else {
            launch.workspace(from);
        }
        if (to < 0) {
            launch.value(context.slot(node.output()));
        } else {
            launch.workspace(to);
        }
        launch.workspace(0)
                .add(result.elements())
                .add(result.elements(axis + 1, result.rank()))
                .struct(tables.struct())
                .add(index)
                .add(from < 0)
                .add(to < 0)
                .add(TypeCodes.of(dtype));
        return GpuResizeLowering.number(launch, dtype, op.extrapolation()).build();
    }
}
