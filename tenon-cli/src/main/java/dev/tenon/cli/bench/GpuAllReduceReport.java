package dev.tenon.cli.bench;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.cuda.platform.GpuPlatforms;
import dev.tenon.cuda.port.GpuPlatform;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;

/** The figures of {@link GpuAllReduceBench}, as a table or as objects. */
final class GpuAllReduceReport {
    private GpuAllReduceReport() {}

    static int print(CommandLine command, int world, List<Long> sizes, boolean json) {
        PrintWriter out = command.getOut();
        GpuPlatform platform = GpuPlatforms.named("cuda");
        Table table = new Table("bytes", "variant", "median", "p95", "min", "max", "in graph", "alg GB/s", "bus GB/s");
        try (Progress progress = new Progress(command.getErr());
                GpuAllReduceBench bench = new GpuAllReduceBench(platform, world)) {
            for (long bytes : sizes) {
                progress.say("all-reduce of " + bytes + " bytes …");
                for (GpuAllReduceBench.Measured measured : bench.measure(bytes)) {
                    row(table, measured);
                    if (json) {
                        Json.print(out, object(bench, platform.name(), measured));
                        out.flush();
                    }
                }
            }
            if (!json) {
                table.print(out);
                out.println(bench.world() + " x " + bench.card() + ", " + platform.name() + " "
                        + platform.driver().version() + ", f32");
            }
        }
        return 0;
    }

    private static void row(Table table, GpuAllReduceBench.Measured measured) {
        table.row(
                measured.bytes(),
                measured.variant(),
                Units.duration(measured.calls().median()),
                Units.duration(measured.calls().p95()),
                Units.duration(measured.calls().min()),
                Units.duration(measured.calls().max()),
                Units.duration(measured.graphMicros()),
                String.format(Locale.ROOT, "%.1f", measured.gigabytesPerSecond()),
                String.format(Locale.ROOT, "%.1f", measured.busGigabytesPerSecond()));
    }

    private static Map<String, Object> object(
            GpuAllReduceBench bench, String device, GpuAllReduceBench.Measured measured) {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("world", measured.world());
        params.put("bytes", measured.bytes());
        params.put("length", measured.bytes() / 4);
        params.put("dtype", "f32");
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("bench", "allreduce");
        object.put("device", device);
        object.put("card", bench.card());
        object.put("params", params);
        object.put("variant", measured.variant());
        measured.calls().into(object);
        object.put("device_us", measured.graphMicros());
        object.put("gb_s", measured.gigabytesPerSecond());
        object.put("bus_gb_s", measured.busGigabytesPerSecond());
        object.put("runs", measured.calls().count());
        return object;
    }
}
