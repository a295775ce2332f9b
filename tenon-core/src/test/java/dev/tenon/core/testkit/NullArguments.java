package dev.tenon.core.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Collection;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;

/** Gives every public method null for each of its arguments in turn: a TenonException that names the argument. */
public final class NullArguments {
    private NullArguments() {}

    /** Arguments that are what a method takes, and objects to call methods on. What was opened is closed with it. */
    public interface Samples extends AutoCloseable {
        Object of(Parameter parameter);

        Object receiver(Class<?> type);

        @Override
        default void close() {}
    }

    /**
     * One test for each argument that may not be null.
     *
     * @param samples makes new ones for each test
     */
    public static Stream<DynamicTest> tests(Collection<Class<?>> api, Supplier<? extends Samples> samples) {
        return api.stream()
                .flatMap(type -> PublicApi.executables(type).stream()
                        .flatMap(executable -> Stream.iterate(0, i -> i < executable.getParameterCount(), i -> i + 1)
                                .filter(i -> refusesNull(executable.getParameters()[i]))
                                .map(i -> DynamicTest.dynamicTest(
                                        name(type, executable, i), () -> check(type, executable, i, samples)))));
    }

    private static boolean refusesNull(Parameter parameter) {
        return !parameter.getType().isPrimitive()
                && !parameter.getAnnotatedType().isAnnotationPresent(Nullable.class);
    }

    private static String name(Class<?> type, Executable executable, int argument) {
        return type.getSimpleName() + "." + executable.getName() + "("
                + String.join(
                        ", ",
                        Stream.of(executable.getParameters())
                                .map(parameter -> parameter.getType().getSimpleName())
                                .toList())
                + "): " + executable.getParameters()[argument].getName();
    }

    private static void check(Class<?> type, Executable executable, int nulled, Supplier<? extends Samples> made) {
        String argument = executable.getParameters()[nulled].getName();
        try (Samples samples = made.get()) {
            Object[] arguments = new Object[executable.getParameterCount()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = i == nulled ? null : samples.of(executable.getParameters()[i]);
            }
            assertThatThrownBy(() -> call(type, executable, arguments, samples))
                    .isInstanceOf(TenonException.class)
                    .hasMessageContaining("argument \"" + argument + "\"")
                    .isInstanceOfSatisfying(
                            InputException.class, e -> assertThat(e.argument()).hasValue(argument));
        }
    }

    private static void call(Class<?> type, Executable executable, Object[] arguments, Samples samples)
            throws Throwable {
        executable.setAccessible(true); // public methods of classes that are not
        try {
            switch (executable) {
                case Constructor<?> constructor -> constructor.newInstance(arguments);
                case Method method ->
                    method.invoke(Modifier.isStatic(method.getModifiers()) ? null : samples.receiver(type), arguments);
            }
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
