package dev.tenon.cli.machine;

import dev.tenon.cli.console.Json;
import dev.tenon.cli.console.Table;
import dev.tenon.cli.console.Units;
import dev.tenon.core.report.DeviceInfo;
import dev.tenon.core.runtime.Target;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What there is to run on. */
@Command(name = "devices", mixinStandardHelpOptions = true, description = "The devices that can be used.")
public final class DevicesCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object a device.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<DeviceInfo> devices = Target.devices();
        if (json) {
            devices.forEach(device -> Json.print(out, object(device)));
            return 0;
        }
        Table table = new Table("device", "name", "memory", "detail");
        devices.forEach(
                device -> table.row(target(device), device.name(), Units.bytes(device.memoryBytes()), device.detail()));
        table.print(out);
        Target.unavailable().forEach(out::println);
        out.println("best: " + Target.best() + " (" + Target.best().reason() + ")");
        return 0;
    }

    static Map<String, Object> object(DeviceInfo device) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("device", target(device));
        object.put("name", device.name());
        object.put("memory_bytes", device.memoryBytes());
        object.put("detail", device.detail());
        return object;
    }

    private static String target(DeviceInfo device) {
        return new Target(device.backend(), device.ordinal(), "").toString();
    }
}
