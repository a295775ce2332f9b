package dev.tenon.emulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.lazy.Uninterrupted;
import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Emulated devices, side by side: the compiler of one kind's kernels keeps one core busy alone. */
final class EmulatedStages {
    private static final int STAGES = 2;
    private static final Pattern TYPE = Pattern.compile("\\b(bf16|f16|f32|f64)\\b");
    /** Kinds whose kernels are checked in f16, wherever they come from; those of the others are in bf16. */
    private static final Pattern PRODUCTS =
            Pattern.compile("mat_?mul|gemv|attention|conv|resident", Pattern.CASE_INSENSITIVE);

    /** Checks a case of a kind. */
    interface Checked<T> {
        void run(String kind, T one, KernelStage stage);
    }

    private EmulatedStages() {}

    /**
     * Whether cases of a half type are left out for a kind: the compiler is what takes time, so each file has one of
     * the two, unless {@code -Dtenon.emulator.all=true}.
     */
    static boolean leavesOut(String kind, DType type) {
        DType one = PRODUCTS.matcher(kind).find() ? DType.BF16 : DType.F16;
        return type == one && !Boolean.getBoolean("tenon.emulator.all");
    }

    /** The same of a kernel's case, by the type that it names. */
    static boolean leavesOut(KernelCase one) {
        return type(one).filter(type -> leavesOut(one.kernel(), type)).isPresent();
    }

    /** The type of floats that a case names. */
    static Optional<DType> type(KernelCase one) {
        Matcher type = TYPE.matcher(one.what());
        return type.find() ? Optional.of(DType.valueOf(type.group().toUpperCase(Locale.ROOT))) : Optional.empty();
    }

    /**
     * Checks every case; those of one kind on one stage.
     *
     * @return what failed
     */
    static <T> List<String> check(Map<String, List<T>> kinds, Checked<T> check) {
        Queue<Map.Entry<String, List<T>>> left = new ConcurrentLinkedQueue<>(kinds.entrySet());
        Queue<Throwable> broken = new ConcurrentLinkedQueue<>();
        Queue<String> faults = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < STAGES; i++) {
            threads.add(Thread.ofPlatform()
                    .name("stage-" + i)
                    .uncaughtExceptionHandler((_, e) -> broken.add(e))
                    .start(() -> onStage(stage -> work(left, check, stage, faults))));
        }
        threads.forEach(thread -> Uninterrupted.run(thread::join));
        assertThat(broken).isEmpty();
        return List.copyOf(faults);
    }

    private static <T> void work(
            Queue<Map.Entry<String, List<T>>> left, Checked<T> check, KernelStage stage, Queue<String> faults) {
        for (var kind = left.poll(); kind != null; kind = left.poll()) {
            for (T one : kind.getValue()) {
                try {
                    check.run(kind.getKey(), one, stage);
                } catch (AssertionError | RuntimeException e) {
                    faults.add(one + ": " + e);
                }
            }
        }
    }

    private static void onStage(Consumer<KernelStage> work) {
        EmulatorDriver driver = new EmulatorDriver(EmulatorOptions.of(Map.of()).withWorkers(2));
        KernelCompiler compiler =
                new CachingCompiler(new EmulatorCompiler(true), KernelCache.standard(), driver::version);
        try (GpuContext context = driver.open(0);
                KernelStage stage = new KernelStage(context, compiler)) {
            work.accept(stage);
        }
    }
}
