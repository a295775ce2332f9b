package dev.tenon.core.runtime;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.Require;
import dev.tenon.core.error.UnsupportedException;
import dev.tenon.core.report.DeviceInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Names a device to use. Two targets are equal when they name the same device, for whatever reason. Immutable.
 *
 * @param backend {@code cpu} or {@code cuda}, in lower-case letters
 * @param ordinal the device's number within the backend, 0 or more
 * @param reason why {@link #best()} chose it; empty when it was asked for by name
 */
public record Target(String backend, int ordinal, String reason) {
    public Target {
        Require.nonNull(backend, "backend");
        Require.nonNull(reason, "reason");
        if (ordinal < 0) {
            throw InputException.of(
                    "ordinal", "argument \"ordinal\" is " + ordinal + "; expected the number of a device, 0 or more");
        }
    }

    public static Target cpu() {
        return new Target("cpu", 0, "");
    }

    public static Target cuda(int ordinal) {
        return new Target("cuda", ordinal, "");
    }

    /**
     * A GPU where one can be used, the CPU otherwise; {@link #reason()} says why. Of several GPUs the one whose
     * products {@code tenon calibrate} found fastest, if all were measured, else the first.
     *
     * @throws UnsupportedException when there is no backend at all
     */
    public static Target best() {
        List<String> passedOver = new ArrayList<>();
        for (Backend backend : Backends.all()) {
            List<DeviceInfo> devices = backend.devices();
            if (!devices.isEmpty()) {
                int fastest = fastest(backend, devices);
                String why = passedOver.isEmpty() ? "the best of " + backends() : String.join("; ", passedOver);
                String measured = fastest < 0 || devices.size() == 1
                        ? ""
                        : ", with the fastest products of " + devices.size() + " devices";
                return new Target(backend.name(), Math.max(0, fastest), why + measured);
            }
            passedOver.add("no " + backend.name() + ": " + backend.unavailable());
        }
        throw new UnsupportedException("no backend can be used: "
                + (passedOver.isEmpty()
                        ? "none is on the class or module path (add dev.tenon:tenon-cpu)"
                        : String.join("; ", passedOver)));
    }

    /** The number of the device that was measured to be the fastest; −1 where one was not measured. */
    static int fastest(Backend backend, List<DeviceInfo> devices) {
        int fastest = -1;
        double most = 0;
        for (DeviceInfo device : devices) {
            OptionalDouble measured = backend.measured(device);
            if (measured.isEmpty()) {
                return -1;
            }
            if (measured.getAsDouble() > most) {
                most = measured.getAsDouble();
                fastest = device.ordinal();
            }
        }
        return fastest;
    }

    /**
     * {@code cpu}, {@code cuda}, {@code cuda:1}, {@code emulator}, {@code best}.
     *
     * @throws InputException naming these forms
     */
    public static Target parse(String text) {
        if (Require.nonNull(text, "text").equals("best")) {
            return best();
        }
        if (text.matches("[a-z]+(:[0-9]{1,4})?")) {
            int colon = text.indexOf(':');
            return colon < 0
                    ? new Target(text, 0, "")
                    : new Target(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)), "");
        }
        throw new InputException("no device \"" + text + "\"; say cpu, cuda, cuda:N, emulator or best");
    }

    /** The names of the backends on the path, the preferred one first. */
    public static List<String> backends() {
        return Backends.all().stream().map(Backend::name).toList();
    }

    /** Every device of every backend. */
    public static List<DeviceInfo> devices() {
        return Backends.all().stream()
                .flatMap(backend -> backend.devices().stream())
                .toList();
    }

    /** One line for each backend that has no device: its name and why. */
    public static List<String> unavailable() {
        return Backends.all().stream()
                .filter(backend -> backend.devices().isEmpty())
                .map(backend -> backend.name() + ": " + backend.unavailable())
                .toList();
    }

    /** Whether both name the same device: {@link #reason()} does not count. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Target target && target.backend.equals(backend) && target.ordinal == ordinal;
    }

    @Override
    public int hashCode() {
        return Objects.hash(backend, ordinal);
    }

    /** {@code cuda:0}; {@code cpu}. */
    @Override
    public String toString() {
        return backend.equals("cpu") ? backend : backend + ":" + ordinal;
    }
}
