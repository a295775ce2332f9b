package dev.tenon.cuda.collective;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** No test waits longer than 30 s, stuck in a native call or not; what all threads do is printed a moment before. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ExtendWith(EndsInTime.Stacks.class)
@interface EndsInTime {
    /** Prints the stacks of a test that is about to be given up. */
    final class Stacks implements BeforeEachCallback, AfterEachCallback {
        private static final ExtensionContext.Namespace HERE = ExtensionContext.Namespace.create(Stacks.class);
        private static final long PATIENCE_NANOS = 28_000_000_000L;

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
