package dev.tenon.cpu.convolution;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.loops.HotLoop;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Winograd's transformations, with dummy data to warm them up on. Loaded only where there is a Vector API. */
public final class WinogradHotLoops {
    private static final Lazy<WinogradHotLoops> LOOPS = new Lazy<>() {
        @Override
        protected WinogradHotLoops make() {
            return new WinogradHotLoops();
        }
    };
    private static final int N = 200;
    private static final long STEP = 1024;

    private final WinogradLoops plain = new WinogradLoops();
    private final MemorySegment data = Arena.ofShared().allocate(1 << 15, 64);
    private final WinogradLoops.Rows x = new WinogradLoops.Rows(data, 0, STEP);
    private final WinogradLoops.Rows y = new WinogradLoops.Rows(data, 1 << 14, STEP);
    private final Place bias = new Place(data, 0);
    final HotLoop six = HotLoop.inMode(
            "Winograd's inputs", brief -> VectorWinogradLoops.sixes(x, y, brief ? 16 : N), _ -> plain.six(x, y, N));
    final HotLoop four = HotLoop.inMode(
            "Winograd's results",
            brief -> {
                VectorWinogradLoops.fours(x, y, 4, bias, brief ? 16 : N);
                VectorWinogradLoops.fours(x, y, 4, Place.NONE, brief ? 16 : N);
                VectorWinogradLoops.fours(x, y, 1, bias, 16);
            },
            _ -> {
                plain.four(x, y, 4, bias, N);
                plain.four(x, y, 4, Place.NONE, N);
                plain.four(x, y, 1, bias, 16);
            });

    private WinogradHotLoops() {}

    /** One object for the process. */
    static WinogradHotLoops get() {
        return LOOPS.get();
    }

    public static List<HotLoop> all() {
        return List.of(get().six, get().four);
    }
}
