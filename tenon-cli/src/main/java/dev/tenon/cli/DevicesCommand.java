package dev.tenon.cli;

import dev.tenon.core.runtime.DeviceInfo;
import dev.tenon.core.runtime.Target;
import dev.tenon.cuda.driver.CudaDriver;
import dev.tenon.cuda.port.DeviceProperties;
import java.io.PrintWriter;
import java.util.ArrayList;
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
final class DevicesCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Option(names = "--json", description = "One object a device.")
    boolean json;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        List<DeviceInfo> devices = new ArrayList<>(Target.devices());
        CudaDriver cuda = new CudaDriver();
        boolean listed = devices.stream().anyMatch(device -> device.backend().equals(cuda.platform()))
                || Target.unavailable().stream().anyMatch(line -> line.startsWith(cuda.platform() + ":"));
        if (!listed) { // no backend for it on the path, yet kernels run there
            cuda.devices().forEach(device -> devices.add(info(cuda, device)));
        }
        if (json) {
            devices.forEach(device -> Json.print(out, object(device)));
            return 0;
        }
        Table table = new Table("device", "name", "memory", "detail");
        devices.forEach(
                device -> table.row(target(device), device.name(), Units.bytes(device.memoryBytes()), device.detail()));
        table.print(out);
        Target.unavailable().forEach(out::println);
        if (!listed && !cuda.unavailable().isEmpty()) {
            out.println(cuda.platform() + ": " + cuda.unavailable());
        }
        out.println("best: " + Target.best() + " (" + Target.best().reason() + ")");
        return 0;
    }

    private static DeviceInfo info(CudaDriver driver, DeviceProperties device) {
        return new DeviceInfo(
                driver.platform(),
                device.ordinal(),
                device.name(),
                device.architecture() + ", " + device.multiprocessors() + " multiprocessors, driver for CUDA "
                        + driver.version(),
                device.memoryBytes());
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
