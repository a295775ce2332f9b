package dev.tenon.cuda.driver;

import static dev.tenon.nativelib.cuda.CuStructs.*;

import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.cuda.CuConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A {@code CUlaunchConfig} and its attributes, filled anew for each launch. Of one stream. */
final class LaunchConfig {
    private static final int MOST_ATTRIBUTES = 3;

    private final MemorySegment config;
    private final MemorySegment attributes;

    LaunchConfig(Arena arena) {
        config = arena.allocate(LAUNCH_CONFIG_BYTES, Long.BYTES);
        attributes = arena.allocate((long) MOST_ATTRIBUTES * LAUNCH_ATTRIBUTE_BYTES, Long.BYTES);
    }

    /** Whether a launch needs more than the plain function takes. */
    static boolean needed(LaunchShape shape) {
        return shape.cooperative() || shape.clusterX() > 1 || shape.programmatic();
    }

    /** @return its address */
    long fill(LaunchShape shape, long stream) {
        int count = 0;
        if (shape.cooperative()) {
            attribute(count++, CuConstants.LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
        }
        if (shape.clusterX() > 1) {
            long value = attribute(count++, CuConstants.LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, shape.clusterX());
            attributes.set(ValueLayout.JAVA_INT, value + 4, 1);
            attributes.set(ValueLayout.JAVA_INT, value + 8, 1);
        }
        if (shape.programmatic()) {
            attribute(count++, CuConstants.LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1);
        }
        three(LAUNCH_CONFIG_GRID_X, shape.gridX(), shape.gridY(), shape.gridZ());
        three(LAUNCH_CONFIG_BLOCK_X, shape.blockX(), shape.blockY(), shape.blockZ());
        config.set(ValueLayout.JAVA_INT, LAUNCH_CONFIG_SHARED_BYTES, shape.sharedBytes());
        config.set(ValueLayout.JAVA_LONG, LAUNCH_CONFIG_STREAM, stream);
        config.set(ValueLayout.JAVA_LONG, LAUNCH_CONFIG_ATTRIBUTES, attributes.address());
        config.set(ValueLayout.JAVA_INT, LAUNCH_CONFIG_ATTRIBUTE_COUNT, count);
        return config.address();
    }

    private long attribute(int index, int id, int value) {
        long at = (long) index * LAUNCH_ATTRIBUTE_BYTES;
        attributes.asSlice(at, LAUNCH_ATTRIBUTE_BYTES).fill((byte) 0);
        attributes.set(ValueLayout.JAVA_INT, at + LAUNCH_ATTRIBUTE_ID, id);
        attributes.set(ValueLayout.JAVA_INT, at + LAUNCH_ATTRIBUTE_VALUE, value);
        return at + LAUNCH_ATTRIBUTE_VALUE;
    }

    private void three(int at, int x, int y, int z) {
        config.set(ValueLayout.JAVA_INT, at, x);
        config.set(ValueLayout.JAVA_INT, at + 4, y);
        config.set(ValueLayout.JAVA_INT, at + 8, z);
    }
}
