package dev.tenon.cuda.tuning;

import dev.tenon.cuda.port.DeviceBuffer;
import dev.tenon.cuda.port.GpuStream;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** An operation of a library that several of its algorithms serve. Compared by identity. */
public interface Tunable {
    /** Of each operand of a trial, in bytes. */
    long BOUNDARY = 256;

    /** Held, with the context current, when it is asked about algorithms or told to take one. */
    Lock guard();

    /** The problems that share a fastest algorithm, in one line without tabs. */
    String problemClass();

    /**
     * Runs by a choice from now on, if it works in what is reserved for it; else the next that is prepared does.
     *
     * @return whether the library takes it for this problem
     */
    boolean take(Choice choice);

    /** The algorithms that may serve, the library's favourite first; what fewer than two are is not timed. */
    List<? extends Trial> trials();

    /** A trial of a choice, which loads its kernels; null where nothing need be loaded before it is taken. */
    default @Nullable Trial trial(Choice choice) {
        return null;
    }

    /** Bytes of device memory for the operands, results and workspace of any of its trials. */
    long trialBytes();

    /** Sizes within a factor of 1.5, in words: classes begin at each power of two and half way to the next. */
    static String near(long size) {
        long octave = Long.highestOneBit(size);
        return octave + (size >= octave + octave / 2 && octave > 1 ? "+" : "");
    }

    /** Bytes of an operand, up to where the next one of a trial begins. */
    static long whole(long bytes) {
        return Math.ceilDiv(bytes, BOUNDARY) * BOUNDARY;
    }

    /** One algorithm, tried. */
    interface Trial extends AutoCloseable {
        /** As {@link Choice#algorithm} has it. */
        String algorithm();

        /** Makes it ready, which may take a moment; the guard is held. @return whether it can run */
        boolean prepare();

        /** Enqueues it on operands in memory of {@link Tunable#trialBytes}; it may be captured after a first time. */
        void enqueue(GpuStream stream, DeviceBuffer memory);

        /** Gives back what {@link #prepare} took; the guard is held. */
        @Override
        void close();
    }
}
