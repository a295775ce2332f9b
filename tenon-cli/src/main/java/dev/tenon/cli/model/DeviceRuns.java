package dev.tenon.cli.model;

import dev.tenon.cli.console.Samples;
import dev.tenon.core.runtime.Engine;
import dev.tenon.core.runtime.Session;
import dev.tenon.core.tensor.Tensor;
import java.util.LinkedHashMap;
import java.util.Map;

/** Runs whose inputs and outputs lie in the device's memory: copies from and to the host are no part of them. */
public final class DeviceRuns {
    private DeviceRuns() {}

    /**
     * Times runs of a session of an engine.
     *
     * @param runs how many at the least
     * @param seconds for how long at the least
     */
    public static Samples measure(
            Engine engine, Session session, Map<String, Tensor> inputs, int runs, double seconds) {
        Map<String, Tensor> there = new LinkedHashMap<>();
        try {
            inputs.forEach((name, tensor) -> there.put(name, engine.upload(tensor)));
            return Samples.measure(() -> session.runOnDevice(there).values().forEach(Tensor::close), runs, seconds);
        } finally {
            there.values().forEach(Tensor::close);
        }
    }
}
