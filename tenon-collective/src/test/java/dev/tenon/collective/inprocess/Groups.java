package dev.tenon.collective.inprocess;

import dev.tenon.collective.Algorithm;
import java.time.Duration;
import java.util.List;

/** Groups as tests want them. */
final class Groups {
    /** The two seconds that the cases name. */
    static final Duration SHORT = Duration.ofSeconds(2);

    static final List<Algorithm> ALGORITHMS =
            List.of(Algorithm.AUTO, Algorithm.RING, Algorithm.DIRECT, Algorithm.DOUBLING);

    private Groups() {}

    static InProcessGroup open(int world, Algorithm algorithm) {
        return InProcessGroup.open(world, InProcessOptions.defaults().withAlgorithm(algorithm));
    }

    static InProcessGroup open(int world, Algorithm algorithm, Duration timeout) {
        return InProcessGroup.open(
                world, InProcessOptions.defaults().withAlgorithm(algorithm).withTimeout(timeout));
    }
}
