package dev.tenon.cuda.collective;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * No test waits longer than 30 s, stuck in a native call or not; what all threads do is printed a moment before. What
 * NCCL still holds is printed after each test that leaves something, and at the JVM's exit with the native threads.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(EndsInTime.Stacks.class)
@interface EndsInTime {
    /** Prints the stacks of a test that is about to be given up. */
    final class Stacks implements BeforeEachCallback, AfterEachCallback {
        private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(Stacks.class);
        private static final long PATIENCE_NANOS = 28_000_000_000L;

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(Stacks::last));
        }

        /** Not through the log, which a hook of its own takes down at the same time. */
        private static void last() {
            System.out.println("at the JVM's exit: held: " + (Leaving.open().isEmpty() ? "nothing" : Leaving.open())
                    + "; a group was aborted: " + Held.abortedAny() + "; native threads: " + nativeThreads());
        }

        private static String nativeThreads() {
            try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
                List<String> names = new ArrayList<>();
                for (Path thread : threads.toList()) {
                    try {
                        names.add(Files.readString(thread.resolve("comm")).strip());
                    } catch (IOException e) {
                        names.add("(ended)");
                    }
                }
                names.sort(null);
                return names.toString();
            } catch (IOException e) {
                return "unknown: " + e;
            }
        }

        @Override
        public void beforeEach(ExtensionContext test) {
            String name = test.getRequiredTestClass().getSimpleName() + "." + test.getDisplayName() + " of "
                    + test.getRequiredTestMethod().getName();
            System.out.println("begins: " + name);
            Thread watch = Thread.ofPlatform().daemon().name("stacks").start(() -> {
                LockSupport.parkNanos(PATIENCE_NANOS);
                if (!Thread.currentThread().isInterrupted()) {
                    System.out.println("about to be given up: " + name + "; all threads:\n" + all());
                }
            });
            test.getStore(HERE).put("watch", watch);
        }

        @Override
        public void afterEach(ExtensionContext test) {
            String open = Leaving.open();
            if (!open.isEmpty()) {
                System.out.println(
                        "WARNING: after " + test.getRequiredTestMethod().getName() + " " + test.getDisplayName()
                                + " there is still: " + open);
            }
            Objects.requireNonNull(test.getStore(HERE).get("watch", Thread.class))
                    .interrupt();
        }

        private static String all() {
            StringBuilder text = new StringBuilder();
            for (Map.Entry<Thread, StackTraceElement[]> one :
                    Thread.getAllStackTraces().entrySet()) {
                text.append(one.getKey())
                        .append(' ')
                        .append(one.getKey().getState())
                        .append('\n');
                for (StackTraceElement frame : one.getValue()) {
                    text.append("    ").append(frame).append('\n');
                }
            }
            return text.toString();
        }
    }
}
