package dev.tenon.cuda.timing;

import dev.tenon.cuda.port.CapturedGraph;
import dev.tenon.cuda.port.ExecutableGraph;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.GpuEvent;
import dev.tenon.cuda.port.GpuStream;
import java.util.Arrays;

/**
 * Device time of repeated work, without the host's share: many repetitions are captured into one graph, whose replays
 * lie between two events.
 */
public final class DeviceTiming {
    private static final int REPLAYS = 21;
    private static final int MOST = 400;
    private static final double ENOUGH_MICROS = 2000;

    private DeviceTiming() {}

    /**
     * The median over replays of the device time of one repetition, in microseconds.
     *
     * @param work enqueues the work once on the stream, without waiting; called some hundred times
     */
    public static double inGraph(GpuContext context, GpuStream stream, Runnable work) {
        double once = replay(context, stream, work, 1, 3);
        int repetitions = (int) Math.clamp(ENOUGH_MICROS / Math.max(once, 1), 1, MOST);
        return replay(context, stream, work, repetitions, REPLAYS);
    }

    /**
     * The median over so many replays of a graph of so many repetitions, in microseconds a repetition. The work is done
     * {@code repetitions * (2 replays + 1)} times.
     *
     * @param work enqueues the work once on the stream, without waiting
     */
    public static double replay(GpuContext context, GpuStream stream, Runnable work, int repetitions, int replays) {
        stream.beginCapture();
        try {
            for (int i = 0; i < repetitions; i++) {
                work.run();
            }
        } catch (RuntimeException | Error e) {
            stream.abortCapture();
            throw e;
        }
        try (CapturedGraph captured = stream.endCapture();
                ExecutableGraph graph = captured.instantiate();
                GpuEvent start = context.newEvent(true);
                GpuEvent end = context.newEvent(true)) {
            double[] micros = new double[replays];
            stream.launch(graph);
            for (int i = 0; i < replays; i++) {
                stream.launch(graph); // so that the device is busy when the events come
                stream.record(start);
                stream.launch(graph);
                stream.record(end);
                end.synchronize();
                micros[i] = end.microsecondsSince(start) / repetitions;
            }
            Arrays.sort(micros);
            return micros[replays / 2];
        }
    }
}
