package dev.tenon.cpu.convolution;

import dev.tenon.cpu.loops.MachineLoops;
import dev.tenon.cpu.loops.Segments;
import dev.tenon.cpu.machine.CallableCode;
import dev.tenon.cpu.machine.WinogradKernel;
import dev.tenon.cpu.machine.WinogradKernel.Groups;
import dev.tenon.cpu.memory.Place;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Winograd's transformations in machine code, at full speed from the first call on, for a vector of elements at least
 * in memory that is neither mapped nor on the heap; all else is left to loops in Java.
 */
final class MachineWinogradLoops extends WinogradLoops {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");
    private static final ThreadLocal<MemorySegment> ARGUMENTS =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(CallableCode.ARGUMENT_BYTES, 64));

    private final WinogradKernel kernel;
    private final WinogradLoops others;

    private MachineWinogradLoops(WinogradKernel kernel, WinogradLoops others) {
        this.kernel = kernel;
        this.others = others;
    }

    /** The others, with machine code before them where it runs. */
    static WinogradLoops before(WinogradLoops others) {
        if (!MachineLoops.available()) {
            return others;
        }
        try {
            return new MachineWinogradLoops(WinogradKernel.make(CallableCode.lanes()), others);
        } catch (IllegalStateException e) {
            LOG.log(Level.DEBUG, "Winograd's transformations run in Java: {0}", e.getMessage());
        } catch (LinkageError | OutOfMemoryError e) {
            LOG.log(Level.WARNING, "Winograd's transformations run in Java, not in machine code", e);
        }
        return others;
    }

    private boolean takes(Rows x, Rows y, int n) {
        return n >= kernel.lanes() && Segments.isNative(x.memory()) && Segments.isNative(y.memory());
    }

    @Override
    void six(Rows x, Rows y, int n, Groups groups) {
        if (takes(x, y, n)) {
            kernel.six(x.matrix(), y.matrix(), n, groups, ARGUMENTS.get());
        } else {
            others.six(x, y, n, groups);
        }
    }

    @Override
    void four(Rows x, Rows y, int rows, Place bias, int n, Groups groups) {
        if (takes(x, y, n) && (bias.isNone() || Segments.isNative(bias.memory()))) {
            kernel.four(x.matrix(), y.matrix(), rows, bias, n, groups, ARGUMENTS.get());
        } else {
            others.four(x, y, rows, bias, n, groups);
        }
    }
}
