package dev.tenon.cuda.timing;

import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Optional;

/**
 * What a device reaches at best, as {@code tenon calibrate} measured it there: what steps are held against, and what
 * predictions of their times start from.
 *
 * @param copyGigabytes a second, read and written, of arrays that no cache holds
 * @param strictGigaflops of f32 products without TF32
 * @param fastGigaflops of f32 products as {@code --precision fast} has them
 * @param halfGigaflops of products of f16
 * @param stepMicros from the start of a small step to that of the next, in a recorded plan
 * @param roundTripMicros from a call to its result, of a model of one step on one element
 */
public record Ceilings(
        double copyGigabytes,
        double strictGigaflops,
        double fastGigaflops,
        double halfGigaflops,
        double stepMicros,
        double roundTripMicros) {
    private static final String FORMAT = "tenon ceilings 2";

    /** What was kept for a device; empty where nothing was, or something else. */
    public static Optional<Ceilings> of(DeviceInfo device, Store store) {
        try {
            String[] lines = Files.readString(store.path(name(device))).split("\n");
            if (lines.length != 7 || !lines[0].equals(header(device))) {
                return Optional.empty();
            }
            double[] numbers = new double[lines.length];
            for (int i = 1; i < lines.length; i++) {
                numbers[i] = Double.parseDouble(lines[i]);
                if (!(numbers[i] > 0 && Double.isFinite(numbers[i]))) {
                    return Optional.empty();
                }
            }
            return Optional.of(new Ceilings(numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6]));
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Keeps them for later commands, of this process and others. @return whether they are kept */
    public boolean keep(DeviceInfo device, Store store) {
        String text = String.join(
                "\n",
                header(device),
                "" + copyGigabytes,
                "" + strictGigaflops,
                "" + fastGigaflops,
                "" + halfGigaflops,
                "" + stepMicros,
                "" + roundTripMicros);
        return store.write(name(device), "measured ceilings", ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** With the driver, the cores and the width of vectors: what changes them makes them be measured anew. */
    private static String header(DeviceInfo device) {
        return (FORMAT + ", " + device.name() + ", " + device.detail()).replace('\n', ' ');
    }

    private static String name(DeviceInfo device) {
        return "ceilings-" + Integer.toHexString(header(device).hashCode());
    }

    /**
     * How near a step comes to what the device could do: by memory or by arithmetic, whichever binds it.
     *
     * @param gigabytes that it moves a second
     * @param gigaflops that it computes a second
     */
    public double share(StepReport report, double gigabytes, double gigaflops, boolean fast) {
        return Math.max(gigabytes / copyGigabytes, gigaflops / gigaflops(report.types(), fast));
    }

    /** Microseconds that a step takes at least: what it moves or what it computes, whichever is longer. */
    public double leastMicros(StepReport report, boolean fast) {
        return Math.max(
                report.cost().bytes() / (copyGigabytes * 1e3),
                report.cost().operations() / (gigaflops(report.types(), fast) * 1e3));
    }

    private double gigaflops(String types, boolean fast) {
        String result = types.substring(types.lastIndexOf("-> ") + 3);
        boolean half = result.startsWith("f16") || result.startsWith("bf16");
        return half ? halfGigaflops : fast ? fastGigaflops : strictGigaflops;
    }
}
