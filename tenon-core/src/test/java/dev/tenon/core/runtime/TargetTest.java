package dev.tenon.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.backend.Backend;
import dev.tenon.core.backend.Device;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.report.DeviceInfo;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/** Which of several devices is the best. */
class TargetTest {
    private static final List<DeviceInfo> THREE = List.of(card(0), card(1), card(2));

    private static DeviceInfo card(int ordinal) {
        return new DeviceInfo("cards", ordinal, "card " + ordinal, "", 0);
    }

    /** Devices of which some were measured. */
    private record Cards(Map<Integer, Double> speeds) implements Backend {
        @Override
        public String name() {
            return "cards";
        }

        @Override
        public int preference() {
            return 1;
        }

        @Override
        public List<DeviceInfo> devices() {
            return THREE;
        }

        @Override
        public String unavailable() {
            return "";
        }

        @Override
        public OptionalDouble measured(DeviceInfo device) {
            Double speed = speeds.get(device.ordinal());
            return speed == null ? OptionalDouble.empty() : OptionalDouble.of(speed);
        }

        @Override
        public Device open(int ordinal, EngineOptions options) {
            throw new AssertionError("nothing is opened");
        }
    }

    @Test
    void theFastestWhereAllWereMeasured() {
        assertThat(Target.fastest(new Cards(Map.of(0, 50.0, 1, 90.0, 2, 70.0)), THREE))
                .isOne();
        assertThat(Target.fastest(new Cards(Map.of(0, 50.0, 1, 50.0, 2, 50.0)), THREE))
                .as("the first of equals")
                .isZero();
    }

    @Test
    void noneWhereOneWasNot() {
        assertThat(Target.fastest(new Cards(Map.of(0, 50.0, 2, 70.0)), THREE)).isEqualTo(-1);
        assertThat(Target.fastest(new Cards(Map.of()), THREE)).isEqualTo(-1);
    }
}
