package dev.tenon.cpu.window;

import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.loops.HotLoop;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The vector loops over channels, with dummy data to warm them up on. Loaded only where there is a Vector API. */
public final class ChannelHotLoops {
    private static final Lazy<ChannelHotLoops> LOOPS = new Lazy<>() {
        @Override
        protected ChannelHotLoops make() {
            return new ChannelHotLoops();
        }
    };
    private static final long W = 1 << 15;
    private static final long Y = 3 << 14;
    private static final int CHANNELS = 40;
    /** Less than a vector has, where it has more than seven lanes. */
    private static final int FEW = Math.min(7, VectorChannelLoops.LANES);

    private static final long ROW = 4L * CHANNELS;

    /** Blocks of four positions, and a rest. */
    private static final int POSITIONS = 11;

    private final ChannelLoops plain = new ChannelLoops();
    private final MemorySegment data = Arena.ofShared().allocate(1 << 16, 64);
    private final ChannelWindow x = new ChannelWindow(data, 0, 3, 16 * ROW, 3, ROW, ROW);
    private final Matrix w = new Matrix(data, W, 3 * ROW);
    private final Place bias = new Place(data, W);
    private final Place y = new Place(data, Y);
    final HotLoop weigh = HotLoop.inMode(
            "weighed channels",
            brief -> {
                VectorChannelLoops.weighed(x, w, bias, y, brief ? 1 : POSITIONS, CHANNELS);
                VectorChannelLoops.weighedFew(x, w, bias, y, brief ? 1 : POSITIONS, FEW);
            },
            _ -> {
                plain.weigh(x, w, bias, y, POSITIONS, CHANNELS);
                plain.weigh(x, w, bias, y, POSITIONS, FEW);
            });
    final HotLoop maximum = HotLoop.inMode(
            "maxima of channels",
            brief -> VectorChannelLoops.maxima(x, y, brief ? 1 : POSITIONS, CHANNELS),
            _ -> plain.maximum(x, y, POSITIONS, CHANNELS));
    final HotLoop average = HotLoop.inMode(
            "averages of channels",
            brief -> VectorChannelLoops.averages(x, 9, y, brief ? 1 : POSITIONS, CHANNELS),
            _ -> plain.average(x, 9, y, POSITIONS, CHANNELS));

    private ChannelHotLoops() {}

    /** One object for the process. */
    public static ChannelHotLoops get() {
        return LOOPS.get();
    }

    public static List<HotLoop> all() {
        return List.of(get().weigh, get().maximum, get().average);
    }
}
