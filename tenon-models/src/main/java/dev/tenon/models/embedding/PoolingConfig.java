package dev.tenon.models.embedding;

import dev.tenon.formats.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The config.json of a Pooling module: one switch a mode, or in newer files the modes' names. */
final class PoolingConfig {
    /** The switches, in the order in which sentence-transformers puts the pooled vectors one behind another. */
    private static final Map<String, Pooling> SWITCHES = new LinkedHashMap<>();

    /** The names of newer files. */
    private static final Map<String, Pooling> NAMES = new LinkedHashMap<>();

    static {
        SWITCHES.put("pooling_mode_cls_token", Pooling.CLS);
        SWITCHES.put("pooling_mode_max_tokens", Pooling.MAX);
        SWITCHES.put("pooling_mode_mean_tokens", Pooling.MEAN);
        SWITCHES.put("pooling_mode_mean_sqrt_len_tokens", Pooling.MEAN_SQRT_LEN);
        SWITCHES.put("pooling_mode_weightedmean_tokens", Pooling.WEIGHTED_MEAN);
        SWITCHES.put("pooling_mode_lasttoken", Pooling.LAST_TOKEN);
        NAMES.put("cls", Pooling.CLS);
        NAMES.put("max", Pooling.MAX);
        NAMES.put("mean", Pooling.MEAN);
        NAMES.put("mean_sqrt_len_tokens", Pooling.MEAN_SQRT_LEN);
        NAMES.put("weightedmean", Pooling.WEIGHTED_MEAN);
        NAMES.put("lasttoken", Pooling.LAST_TOKEN);
    }

    private PoolingConfig() {}

    static List<Pooling> read(JsonObject config) {
        if (config.has("pooling_mode")) {
            List<Pooling> named = new ArrayList<>();
            List<String> names = config.isString("pooling_mode")
                    ? List.of(config.string("pooling_mode"))
                    : config.strings("pooling_mode");
            for (String name : names) {
                Pooling pooling = NAMES.get(name);
                if (pooling == null) {
                    throw config.error(
                            "pooling_mode",
                            "is '" + name + "', which is not supported; supported: "
                                    + String.join(", ", NAMES.keySet()));
                }
                named.add(pooling);
            }
            return checked(config, named);
        }
        for (String name : config.names()) {
            if (name.startsWith("pooling_mode_") && !SWITCHES.containsKey(name) && config.bool(name)) {
                throw config.error(name, "is not supported; supported: " + String.join(", ", SWITCHES.keySet()));
            }
        }
        List<Pooling> on = new ArrayList<>();
        // the mean is on in a file that does not name it, as in the reference's constructor
        SWITCHES.forEach((name, pooling) -> {
            if (config.bool(name, pooling == Pooling.MEAN)) {
                on.add(pooling);
            }
        });
        return checked(config, on);
    }

    private static List<Pooling> checked(JsonObject config, List<Pooling> modes) {
        if (modes.isEmpty()) {
            throw config.error("pooling_mode_mean_tokens", "and all other modes are off; one must be on");
        }
        return List.copyOf(modes);
    }
}
