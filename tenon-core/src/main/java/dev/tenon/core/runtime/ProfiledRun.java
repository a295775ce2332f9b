package dev.tenon.core.runtime;

import dev.tenon.core.error.Require;
import dev.tenon.core.report.RunProfile;
import dev.tenon.core.tensor.Tensor;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A run and where its time went.
 *
 * @param outputs by name, in the model's order, as {@link Session#run(Map)} gives them
 */
public record ProfiledRun(Map<String, Tensor> outputs, RunProfile profile) {
    public ProfiledRun {
        outputs = Collections.unmodifiableMap(new LinkedHashMap<>(Require.entries(outputs, "outputs")));
        Require.nonNull(profile, "profile");
    }
}
