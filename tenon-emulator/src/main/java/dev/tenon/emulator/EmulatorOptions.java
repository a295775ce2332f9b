package dev.tenon.emulator;

import dev.tenon.core.backend.HostLimits;
import dev.tenon.core.error.InputException;
import java.time.Duration;
import java.util.Map;

/**
 * How the emulator runs.
 *
 * @param checked whether every access of a kernel is checked: slower by 2 to 4 times
 * @param ordered whether checked kernels' accesses must be ordered between streams by events: slower still
 * @param workers threads that run blocks
 * @param memoryBytes device memory in all
 * @param devices how many devices there are
 * @param watchdog longest run of one thread between two waits
 * @param patience longest wait in loops while nothing else happens
 */
public record EmulatorOptions(
        boolean checked,
        boolean ordered,
        int workers,
        long memoryBytes,
        int devices,
        Duration watchdog,
        Duration patience) {
    private static final int MOST_WORKERS = 64;
    private static final int MOST_DEVICES = 64;

    public EmulatorOptions {
        if (workers < 1 || workers > MOST_WORKERS || memoryBytes < 0 || devices < 1 || devices > MOST_DEVICES) {
            throw new InputException("emulator: " + workers + " workers (1 to " + MOST_WORKERS + "), " + memoryBytes
                    + " bytes (0 or more), " + devices + " devices (1 to " + MOST_DEVICES + ")");
        }
    }

    /**
     * What the environment says: {@code TENON_EMULATOR_CHECKED} (0 or 1), {@code TENON_EMULATOR_ORDERED}
     * (0 or 1), {@code TENON_EMULATOR_WORKERS}, {@code TENON_EMULATOR_MEMORY} (bytes), {@code TENON_EMULATOR_DEVICES};
     * else checked, not ordered, all cores, a quarter of the memory that this process may take, one device.
     *
     * @throws InputException for a value that is no number or out of bounds, by the variable's name
     */
    public static EmulatorOptions of(Map<String, String> environment) {
        return new EmulatorOptions(
                number(environment, "TENON_EMULATOR_CHECKED", 1, 0, 1) != 0,
                number(environment, "TENON_EMULATOR_ORDERED", 0, 0, 1) != 0,
                (int) number(
                        environment,
                        "TENON_EMULATOR_WORKERS",
                        Math.min(MOST_WORKERS, Runtime.getRuntime().availableProcessors()),
                        1,
                        MOST_WORKERS),
                number(environment, "TENON_EMULATOR_MEMORY", HostLimits.memoryBytes() / 4, 0, Long.MAX_VALUE),
                (int) number(environment, "TENON_EMULATOR_DEVICES", 1, 1, MOST_DEVICES),
                Duration.ofSeconds(30),
                Duration.ofSeconds(5));
    }

    public static EmulatorOptions standard() {
        return of(System.getenv());
    }

    public EmulatorOptions withChecked(boolean on) {
        return new EmulatorOptions(on, ordered, workers, memoryBytes, devices, watchdog, patience);
    }

    public EmulatorOptions withOrdered(boolean on) {
        return new EmulatorOptions(checked, on, workers, memoryBytes, devices, watchdog, patience);
    }

    public EmulatorOptions withMemoryBytes(long bytes) {
        return new EmulatorOptions(checked, ordered, workers, bytes, devices, watchdog, patience);
    }

    public EmulatorOptions withWorkers(int count) {
        return new EmulatorOptions(checked, ordered, count, memoryBytes, devices, watchdog, patience);
    }

    public EmulatorOptions withDevices(int count) {
        return new EmulatorOptions(checked, ordered, workers, memoryBytes, count, watchdog, patience);
    }

    /** How long endless loops and endless waits may take before they are errors. */
    public EmulatorOptions withPatience(Duration loops, Duration waits) {
        return new EmulatorOptions(checked, ordered, workers, memoryBytes, devices, loops, waits);
    }

    private static long number(Map<String, String> environment, String name, long otherwise, long least, long most) {
        String text = environment.getOrDefault(name, "");
        try {
            long number = text.isBlank() ? otherwise : Long.parseLong(text.strip());
            if (number < least || number > most) {
                throw new InputException(
                        name + "=" + text + " is not possible; expected a whole number from " + least + " to " + most);
            }
            return number;
        } catch (NumberFormatException e) {
            throw new InputException(name + "=" + text + " is not a whole number from " + least + " to " + most, e);
        }
    }
}
