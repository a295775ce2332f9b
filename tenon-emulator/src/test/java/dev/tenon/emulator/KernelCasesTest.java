package dev.tenon.emulator;

import dev.tenon.cuda.check.KernelCase;
import dev.tenon.cuda.check.KernelCases;
import dev.tenon.cuda.check.KernelStage;
import dev.tenon.cuda.compile.CachingCompiler;
import dev.tenon.cuda.compile.KernelCache;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.KernelCompiler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Kernel cases, checked: all with the id of a handed case, all functions of one number, and every {@code STRIDE}th of
 * the others; all of them with {@code -Dtenon.emulator.all=true} or by {@code tenon kernels run --device emulator}.
 */
class KernelCasesTest {
    private static final int STRIDE = 41;
    private static final Pattern HANDED = Pattern.compile("[A-Z]{2}-\\d\\d");

    private static @Nullable GpuContext context;
    private static @Nullable KernelStage stage;

    @BeforeAll
    static void open() {
        Harness.require();
        EmulatorDriver driver = new EmulatorDriver(EmulatorOptions.of(Map.of()).withWorkers(2));
        KernelCompiler compiler =
                new CachingCompiler(new EmulatorCompiler(true), KernelCache.standard(), driver::version);
        context = driver.open(0);
        stage = new KernelStage(context, compiler);
    }

    @AfterAll
    static void close() {
        if (stage != null) {
            stage.close();
        }
        if (context != null) {
            context.close();
        }
    }

    @TestFactory
    Stream<DynamicTest> everyHandedCase() {
        return KernelCases.all().stream()
                .filter(one -> !one.heavy() && HANDED.matcher(one.what()).find())
                .map(one -> DynamicTest.dynamicTest(one.toString(), () -> stage.run(one)));
    }

    @TestFactory
    Stream<DynamicTest> everyFunctionIsWithinItsBound() {
        return KernelCases.all().stream()
                .filter(one -> one.kernel().equals("unary"))
                .filter(one -> !HANDED.matcher(one.what()).find())
                .map(one -> DynamicTest.dynamicTest(one.toString(), () -> stage.run(one)));
    }

    /** Products of random shapes by each of our kernels, and by each tile of those on tensor cores. */
    @TestFactory
    Stream<DynamicTest> productsOfEveryTier() {
        return KernelCases.all().stream()
                .filter(one -> one.what().startsWith("drawn ") || one.what().contains("wrong counts"))
                .map(one -> DynamicTest.dynamicTest(one.toString(), () -> stage.run(one)));
    }

    @Test
    void aSampleOfTheOthers() {
        int stride = Boolean.getBoolean("tenon.emulator.all") ? 1 : STRIDE;
        List<KernelCase> cases = KernelCases.all().stream()
                .filter(one -> !one.heavy() && !one.kernel().equals("unary"))
                .toList();
        List<String> faults = new ArrayList<>();
        IntStream.iterate(0, i -> i < cases.size(), i -> i + stride).forEach(i -> {
            try {
                stage.run(cases.get(i));
            } catch (AssertionError e) {
                faults.add(cases.get(i) + ": " + e.getMessage());
            }
        });
        if (!faults.isEmpty()) {
            throw new AssertionError(faults.size() + " cases failed:\n" + String.join("\n", faults));
        }
    }
}
