package dev.tenon.cuda.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.fn.BinaryFn;
import dev.tenon.core.ir.fn.CompareFn;
import dev.tenon.core.ir.fn.ReduceFn;
import dev.tenon.core.ir.fn.UnaryFn;
import dev.tenon.cuda.kernel.file.KernelSources;
import dev.tenon.cuda.kernel.file.TypeCodes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Java and CUDA know the same functions by the same numbers, and each device function has a case for every function
 * that it must know.
 */
class CodesTest {
    private static final String UNARY = header("unary_fn.cuh");
    private static final String BINARY = header("binary_fn.cuh");
    private static final String REDUCE = header("reduce.cuh");

    private static final List<UnaryFn> OF_FLOATS = Arrays.stream(UnaryFn.values())
            .filter(fn -> fn.accepts().test(DType.F32))
            .toList();

    @Test
    void typesHaveTheNumbersOfTheHeader() {
        Map<String, Integer> types = Arrays.stream(DType.values())
                .filter(TypeCodes::has)
                .collect(Collectors.toMap(DType::name, TypeCodes::of, (a, _) -> a, TreeMap::new));
        assertThat(stated(header("types.cuh"), "TYPE_")).isEqualTo(types);
    }

    @Test
    void narrowTypesHaveTheNumbersOfTheHeader() {
        Map<String, Integer> types = Arrays.stream(DType.values())
                .filter(dtype -> !TypeCodes.has(dtype))
                .collect(Collectors.toMap(DType::name, TypeCodes::ofAny, (a, _) -> a, TreeMap::new));
        assertThat(stated(header("narrow_types.cuh"), "NARROW_")).isEqualTo(types);
    }

    @Test
    void unaryFunctionsHaveTheNumbersOfTheHeader() {
        assertThat(stated(UNARY, "FN_")).isEqualTo(numbered(OF_FLOATS, UnaryFn::code));
        assertThat(UnaryFn.values())
                .extracting(UnaryFn::code)
                .doesNotHaveDuplicates()
                .doesNotContain(KernelCatalog.NO_FUNCTION);
    }

    @Test
    void binaryFunctionsAndComparisonsHaveTheNumbersOfTheHeader() {
        Map<String, Integer> functions = numbered(List.of(BinaryFn.values()), BinaryFn::code);
        functions.putAll(numbered(List.of(CompareFn.values()), CompareFn::code));
        functions.putAll(numbered(
                Stream.of(UnaryFn.values())
                        .filter(fn -> !OF_FLOATS.contains(fn))
                        .toList(),
                UnaryFn::code));
        assertThat(stated(BINARY, "FN_")).isEqualTo(functions);
        assertThat(BinaryFn.values()).extracting(BinaryFn::code).doesNotHaveDuplicates();
        assertThat(CompareFn.values()).extracting(CompareFn::code).doesNotHaveDuplicates();
    }

    @Test
    void reductionsHaveTheNumbersOfTheKernel() {
        assertThat(stated(REDUCE, "REDUCE_")).isEqualTo(numbered(List.of(ReduceFn.values()), ReduceFn::code));
        assertThat(ReduceFn.values()).extracting(ReduceFn::code).doesNotHaveDuplicates();
    }

    @Test
    void deviceFunctionsHaveACaseForEveryFunction() {
        assertThat(cases(UNARY, "unary_fn(")).isEqualTo(names(OF_FLOATS.stream()));
        assertThat(cases(BINARY, "integer_unary_fn("))
                .isEqualTo(names(Stream.of(UnaryFn.values())
                        .filter(fn ->
                                fn.accepts().test(DType.I32) || fn.accepts().test(DType.BOOL))));
        assertThat(cases(BINARY, "A binary_fn("))
                .isEqualTo(names(
                        Stream.of(BinaryFn.values()).filter(fn -> fn.accepts().test(DType.F32))));
        assertThat(cases(BINARY, "integer_binary_fn("))
                .isEqualTo(names(Stream.of(BinaryFn.values())
                        .filter(fn ->
                                fn.accepts().test(DType.I32) || fn.accepts().test(DType.BOOL))));
        assertThat(cases(BINARY, "bool compare_fn(")).isEqualTo(names(Stream.of(CompareFn.values())));
    }

    private static String header(String name) {
        String text = KernelSources.headers().get(name);
        assertThat(text).as(name).isNotNull();
        return text;
    }

    private static <E extends Enum<E>> Map<String, Integer> numbered(List<E> constants, ToIntFunction<E> code) {
        Map<String, Integer> numbers = new TreeMap<>();
        constants.forEach(constant -> numbers.put(constant.name(), code.applyAsInt(constant)));
        return numbers;
    }

    private static Set<String> names(Stream<? extends Enum<?>> constants) {
        return constants.map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The constants of that prefix, by the rest of their names. */
    private static Map<String, Integer> stated(String text, String prefix) {
        Map<String, Integer> numbers = new TreeMap<>();
        Pattern.compile("(?m)^constexpr int " + prefix + "(\\w+) = (\\d+);")
                .matcher(text)
                .results()
                .forEach(found -> numbers.put(found.group(1), Integer.parseInt(found.group(2))));
        return numbers;
    }

    /** The functions that the device function of that signature has cases for. */
    private static Set<String> cases(String text, String signature) {
        int from = text.indexOf(signature);
        assertThat(from).as(signature).isNotNegative();
        Set<String> names = new TreeSet<>();
        Pattern.compile("case FN_(\\w+):")
                .matcher(text.substring(from, text.indexOf("\n}", from)))
                .results()
                .forEach(found -> names.add(found.group(1)));
        return names;
    }
}
