package dev.tenon.cuda.collective;

import dev.tenon.core.error.InputException;
import java.util.Map;

/**
 * A process's place in a world of processes, as {@code torchrun} and {@code tenon launch} put it into the environment.
 *
 * @param rank {@code RANK}, from 0 on
 * @param world {@code WORLD_SIZE}
 * @param localRank {@code LOCAL_RANK}, the number of the process on its host and of the device that it uses; the rank
 *     where it is not set
 * @param address {@code MASTER_ADDR}, where rank 0 runs
 * @param port {@code MASTER_PORT}, where rank 0 listens while the ranks join
 */
public record RankEnvironment(int rank, int world, int localRank, String address, int port) {
    private static final int HIGHEST_PORT = 65535;

    public RankEnvironment {
        if (world < 1 || rank < 0 || rank >= world) {
            throw new InputException("RANK is " + rank + " and WORLD_SIZE " + world + "; ranks are 0 to the world - 1");
        }
        if (localRank < 0) {
            throw new InputException("LOCAL_RANK is " + localRank + "; expected 0 or more");
        }
        if (port < 1 || port > HIGHEST_PORT) {
            throw new InputException("MASTER_PORT is " + port + "; expected 1 to " + HIGHEST_PORT);
        }
    }

    /** This process's. @throws InputException naming the variable that is missing or wrong */
    public static RankEnvironment here() {
        return of(System.getenv());
    }

    /** What these variables say. @throws InputException naming the variable that is missing or wrong */
    public static RankEnvironment of(Map<String, String> variables) {
        int rank = number(variables, "RANK");
        return new RankEnvironment(
                rank,
                number(variables, "WORLD_SIZE"),
                variables.containsKey("LOCAL_RANK") ? number(variables, "LOCAL_RANK") : rank,
                text(variables, "MASTER_ADDR"),
                number(variables, "MASTER_PORT"));
    }

    private static int number(Map<String, String> variables, String name) {
        String text = text(variables, name);
        try {
            return Integer.parseInt(text.strip());
        } catch (NumberFormatException e) {
            throw new InputException("the environment's " + name + " is \"" + text + "\"; expected a number", e);
        }
    }

    private static String text(Map<String, String> variables, String name) {
        String text = variables.get(name);
        if (text == null || text.isBlank()) {
            throw new InputException("the environment has no " + name
                    + "; start the ranks with `tenon launch -n N -- COMMAND`, torchrun, or with that variable set");
        }
        return text;
    }
}
