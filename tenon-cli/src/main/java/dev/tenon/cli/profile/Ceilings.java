package dev.tenon.cli.profile;

import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.report.StepReport;
import dev.tenon.cuda.store.Store;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Optional;

/**
 * What a device reaches at best, as {@code tenon calibrate} measured it there: what other steps are held against.
 *
 * @param copyGigabytes a second, read and written, of arrays that no cache holds
 * @param strictGigaflops of f32 products without TF32
 * @param fastGigaflops of f32 products as {@code --precision fast} has them
 * @param halfGigaflops of products of f16
 * @param roundTripMicros from a call to its result, of a model of one step on one element
 */
record Ceilings(
        double copyGigabytes,
        double strictGigaflops,
        double fastGigaflops,
        double halfGigaflops,
        double roundTripMicros) {
    private static final String FORMAT = "tenon ceilings 1";

    /** What was kept for a device; empty where nothing was, or something else. */
    static Optional<Ceilings> of(DeviceInfo device, Store store) {
        try {
            String[] lines = Files.readString(store.path(name(device))).split("\n");
            if (lines.length != 6 || !lines[0].equals(header(device))) {
                return Optional.empty();
            }
            return Optional.of(new Ceilings(
                    Double.parseDouble(lines[1]),
                    Double.parseDouble(lines[2]),
                    Double.parseDouble(lines[3]),
                    Double.parseDouble(lines[4]),
                    Double.parseDouble(lines[5])));
        } catch (IOException | NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Keeps them for later commands, of this process and others. @return whether they are kept */
    boolean keep(DeviceInfo device, Store store) {
        String text = String.join(
                "\n",
                header(device),
                "" + copyGigabytes,
                "" + strictGigaflops,
                "" + fastGigaflops,
                "" + halfGigaflops,
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

    /** How near a kind of step comes to what the device could do: by memory or by arithmetic, whichever binds it. */
    double share(StepKind kind, boolean fast) {
        double memory = kind.gigabytesPerSecond() / copyGigabytes;
        return Math.max(memory, kind.gigaflopsPerSecond() / gigaflops(kind.report(), fast));
    }

    private double gigaflops(StepReport report, boolean fast) {
        String result = report.types().substring(report.types().lastIndexOf("-> ") + 3);
        boolean half = result.startsWith("f16") || result.startsWith("bf16");
        return half ? halfGigaflops : fast ? fastGigaflops : strictGigaflops;
    }
}
