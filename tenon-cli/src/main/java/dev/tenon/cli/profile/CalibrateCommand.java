package dev.tenon.cli.profile;

import dev.tenon.cli.console.DeviceOptions;
import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Progress;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.runtime.Engine;
import dev.tenon.cuda.store.Store;
import dev.tenon.cuda.timing.Ceilings;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What a device reaches at best. */
@Command(
        name = "calibrate",
        mixinStandardHelpOptions = true,
        description = {
            "What a device reaches at best: copies, products of f32 and f16, a round trip.",
            "Kept beside the compiled kernels. From then on profile says how near steps come to it, explain",
            "what they take at least; plans on several streams go by it; the best of several GPUs has the",
            "fastest products."
        })
public final class CalibrateCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object.")
    boolean json;

    @Mixin
    DeviceOptions device = new DeviceOptions();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        DeviceInfo info;
        Ceilings found;
        try (Progress progress = new Progress(spec.commandLine().getErr());
                Engine engine = Engine.open(device.target(), device.options())) {
            info = engine.device();
            if (info.backend().equals("emulator")) {
                throw new UnsupportedException(
                        "the emulator says what kernels compute, not how fast; expected --device cpu or cuda");
            }
            found = new Calibration(engine, progress::say).measure();
        }
        boolean kept = found.keep(info, Store.standard());
        if (json) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("device", info.name());
            object.put("copy_gb_s", found.copyGigabytes());
            object.put("strict_gflop_s", found.strictGigaflops());
            object.put("fast_gflop_s", found.fastGigaflops());
            object.put("half_gflop_s", found.halfGigaflops());
            object.put("step_us", found.stepMicros());
            object.put("round_trip_us", found.roundTripMicros());
            object.put("kept", kept);
            Json.print(out, object);
            return 0;
        }
        new Table("what", "at best")
                .row("copies", rounded(found.copyGigabytes()) + " GB/s")
                .row("f32 products, strict", rounded(found.strictGigaflops()) + " GFLOP/s")
                .row("f32 products, fast", rounded(found.fastGigaflops()) + " GFLOP/s")
                .row("f16 products", rounded(found.halfGigaflops()) + " GFLOP/s")
                .row("from one small step to the next", Units.duration(found.stepMicros()))
                .row("round trip of one step", Units.duration(found.roundTripMicros()))
                .print(out);
        out.println(info.name() + ", " + info.detail() + (kept ? "" : "; not kept"));
        return 0;
    }

    private static String rounded(double number) {
        return String.format(Locale.ROOT, "%.0f", number);
    }
}
