package dev.tenon.cuda.kernel;

import dev.tenon.core.error.UnsupportedException;
import dev.tenon.cuda.kernel.file.KernelFile;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.port.GpuContext;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The kernels of one step: noted while it is lowered, given their code together with those of a plan's other steps.
 * Used by one thread.
 */
public final class StepKernels implements Kernels {
    private final KernelModules modules;
    private final List<Kernel> noted = new ArrayList<>();

    public StepKernels(KernelModules modules) {
        this.modules = modules;
    }

    @Override
    public GpuContext context() {
        return modules.context();
    }

    @Override
    public boolean compilesSpecific() {
        return modules.compilesSpecific();
    }

    @Override
    public boolean holds(KernelFile file, KernelVariant variant) {
        return modules.holds(file, variant);
    }

    /** Without code until {@link Loaded#bind}. */
    @Override
    public Kernel kernel(KernelFile file, String entry, KernelVariant variant, int sharedBytes) {
        Kernel kernel = new Kernel(file, entry, variant, sharedBytes);
        noted.add(kernel);
        return kernel;
    }

    /**
     * Compiles and loads what steps of one device need and is not there yet, in their order, several at a time.
     *
     * @throws dev.tenon.core.error.TenonException never: what failed is for {@link Loaded#bind} to say
     */
    public static Loaded load(KernelModules modules, List<StepKernels> steps) {
        Map<String, Runnable> missing = new LinkedHashMap<>();
        for (StepKernels step : steps) {
            for (Kernel kernel : step.noted) {
                if (!modules.has(kernel.module())) {
                    missing.putIfAbsent(kernel.module(), () -> modules.module(kernel.file(), kernel.variant()));
                }
            }
        }
        return new Loaded(modules, ParallelLoads.run(modules.context(), missing));
    }

    /** Adds, by module, where the compiled images of the step's kernels lie; leaves out those that lie in no file. */
    public void files(Map<String, Path> files) {
        for (Kernel kernel : noted) {
            if (!files.containsKey(kernel.module())) {
                Path file = modules.file(kernel.file(), kernel.variant());
                if (file != null) {
                    files.put(kernel.module(), file);
                }
            }
        }
    }

    /** What there is after a load. */
    public static final class Loaded {
        private final KernelModules modules;
        private final Map<String, Throwable> faults;

        private Loaded(KernelModules modules, Map<String, Throwable> faults) {
            this.modules = modules;
            this.faults = faults;
        }

        /**
         * Gives a step's kernels their code.
         *
         * @return why no compiler has code for one of them; empty where all have it
         * @throws dev.tenon.core.error.NativeException when a source does not compile or the driver refuses it
         */
        public String bind(StepKernels step) {
            for (Kernel kernel : step.noted) {
                switch (faults.get(kernel.module())) {
                    case UnsupportedException none -> {
                        return String.valueOf(none.getMessage());
                    }
                    case RuntimeException fault -> throw fault;
                    case Error fault -> throw fault;
                    case null, default -> kernel.bind(modules);
                }
            }
            return "";
        }
    }
}
