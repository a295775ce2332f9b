package dev.tenon.cpu.loops;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.invoke.MethodHandles;
import java.util.List;

/** Whether this JVM has the Vector API, decided once. Classes that mention it are loaded only where this says so. */
public final class Vectors {
    private static final Logger LOG = System.getLogger("dev.tenon.cpu");

    /** Whether the incubator module is there. It is on a module path; a class path needs {@code --add-modules}. */
    private static final boolean PRESENT = find();

    /** Apart from the other fields: to look for the module is quick, to load the classes is not. */
    private static final class Loaded {
        static final boolean ALL = PRESENT && load();

        /**
         * An exhausted heap breaks the JDK's classes or ours for the rest of the process; the scalar loops need none of
         * them.
         */
        private static boolean load() {
            try {
                for (Class<?> each : List.of(
                        VectorTile.class,
                        VectorRows.class,
                        VectorUnary.class,
                        VectorBinary.class,
                        VectorMoves.class,
                        VectorQuantLoops.class,
                        VectorWindowLoops.class,
                        VectorLoops.class)) {
                    MethodHandles.lookup().ensureInitialized(each);
                }
                HotLoops.get();
                MoveLoops.get();
                return true;
            } catch (LinkageError | OutOfMemoryError | IllegalAccessException e) {
                LOG.log(
                        Level.WARNING,
                        "the CPU backend runs scalar loops: the classes of its vector loops could not be initialised",
                        e);
                return false;
            }
        }
    }

    /** Whether vector loops can run; loads their classes. A constant to compiled code. */
    public static boolean available() {
        return Loaded.ALL;
    }

    /** The values of the system property {@code dev.tenon.cpu.kernels}. */
    static final String AUTO = "auto";

    static final String VECTOR = "vector";
    static final String SCALAR = "scalar";
    static final String MACHINE = "machine";

    private static final String MODULE = "jdk.incubator.vector";

    private Vectors() {}

    /**
     * {@code auto}: machine code where it runs, and scalar loops until the vector ones are compiled, which takes a
     * second or two; {@code vector}: vector loops from the start, slow until compiled but bit for bit the same in every
     * run; {@code scalar}: scalar loops only; {@code machine}: like {@code auto}, but never the vector module, as a JVM
     * needs that records classes for an AOT cache.
     */
    static String mode() {
        String mode = System.getProperty("dev.tenon.cpu.kernels", AUTO);
        return switch (mode) {
            case VECTOR, SCALAR, MACHINE -> mode;
            default -> AUTO;
        };
    }

    /** Makes the machine code, or begins to compile the loop that most models run. */
    public static void prepare() {
        if (available() && !MachineLoops.available()) {
            HotLoops.requestUsual();
        }
    }

    private static boolean find() {
        if (mode().equals(SCALAR) || mode().equals(MACHINE)) {
            return false;
        }
        Module here = Vectors.class.getModule();
        boolean found =
                ModuleLayer.boot().findModule(MODULE).filter(here::canRead).isPresent() || load(here);
        if (!found) {
            LOG.log(
                    Level.INFO,
                    "the CPU backend runs scalar loops: start Java with --add-modules jdk.incubator.vector for vector kernels");
        }
        return found;
    }

    /**
     * Loads the module into the running JVM, by the means that the JDK itself has for this, where the start exported
     * them to this module ({@code --add-exports java.base/jdk.internal.module=…}). A module loaded so is the same as
     * one resolved at the start, but the JVM prints no line about incubator modules on standard error.
     */
    private static boolean load(Module here) {
        if (!Object.class.getModule().isExported("jdk.internal.module", here)) {
            return false;
        }
        try {
            Module module = (Module) Class.forName("jdk.internal.module.Modules")
                    .getMethod("loadModule", String.class)
                    .invoke(null, MODULE);
            here.addReads(module);
            return true;
        } catch (ReflectiveOperationException | RuntimeException e) {
            System.getLogger("dev.tenon.cpu")
                    .log(Level.DEBUG, "the vector module cannot be loaded into a running JVM", e);
            return false;
        }
    }

    /**
     * One phrase for people who only look: how wide the vectors are is known once their classes are loaded, which takes
     * longer than all else that looking does.
     */
    public static String presence() {
        return PRESENT ? "Vector API" : "no Vector API";
    }

    /** One phrase for people who run something. */
    public static String width() {
        String vectors = available() ? VectorLoops.LANES * Float.SIZE + "-bit vectors" : "no Vector API";
        return MachineLoops.available() ? vectors + ", machine code" : vectors;
    }
}
