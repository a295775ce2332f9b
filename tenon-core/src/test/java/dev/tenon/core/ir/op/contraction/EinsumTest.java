package dev.tenon.core.ir.op.contraction;

import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.error.ShapeException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Primitive;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.Nd;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Einsum's decomposition against a loop over all indices. */
class EinsumTest {
    /** Operand shapes are letters' sizes: a digit behind a letter in the last column sets it, 2 where none does. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "ij,jk->ik; i3j4k5",
                "bij,bjk->bik; b2i3j4k5",
                "bhwc,hkc->bhwk; b2h3w4c5k3",
                "ij->ji; i3j4",
                "ij->; i3j4",
                "ij; i3j4",
                "ij->i; i3j4",
                "i,i->; i4",
                "i,j->ij; i4j3",
                "ij,ij->ij; i4j3",
                "ii->i; i4",
                "bii->bi; b3i4",
                "iji->j; i4j3",
                "ij,jk,kl->il; i2j3k4l2",
                "ij,jk,ik->; i2j3k4",
                "abc,cd,b->ad; a2b3c4d2",
                "ij,jk; i3j4k2",
                "ba; b3a2",
                "ij,k->i; i3j0k2"
            })
    void agreesWithTheLoop(String equation, String sizes) {
        Map<Character, Integer> size = new HashMap<>();
        for (int i = 0; i < sizes.length(); i += 2) {
            size.put(sizes.charAt(i), sizes.charAt(i + 1) - '0');
        }
        String[] sides = equation.split("->", -1);
        List<NdArray> operands = new ArrayList<>();
        for (String term : sides[0].split(",")) {
            Shape shape = Shape.of(
                    term.chars().mapToLong(c -> size.getOrDefault((char) c, 2)).toArray());
            NdArray operand = NdArray.zeros(new TensorType(DType.I64, shape));
            for (int i = 0; i < operand.size(); i++) {
                operand.set(i, (i * 7L + operands.size()) % 11 - 5);
            }
            operands.add(operand);
        }
        NdArray result = evaluate(equation, operands);
        assertThat(result.toLongs()).isEqualTo(loop(equation, operands, size));
    }

    private static NdArray evaluate(String equation, List<NdArray> operands) {
        GraphBuilder g = new GraphBuilder("einsum");
        Map<Value, NdArray> values = new HashMap<>();
        List<Value> inputs = new ArrayList<>();
        for (NdArray operand : operands) {
            Value input = g.input("x" + inputs.size(), operand.type());
            values.put(input, operand);
            inputs.add(input);
        }
        Einsum op = new Einsum(equation);
        Value result = op.decompose(g, inputs).getFirst();
        g.output("y", result);
        Graph graph = g.build();
        assertThat(op.infer(inputs.stream().map(Value::type).toList())).containsExactly(result.type());
        for (Node node : graph.nodes()) {
            List<NdArray> results = ((Primitive) node.op())
                    .evaluate(node.inputs().stream().map(values::get).toList());
            values.put(node.output(), results.getFirst());
        }
        return Objects.requireNonNull(values.get(result));
    }

    private static long[] loop(String equation, List<NdArray> operands, Map<Character, Integer> sizes) {
        String[] sides = equation.split("->", -1);
        String[] terms = sides[0].split(",");
        String letters = sides[0].chars()
                .filter(Character::isLetter)
                .distinct()
                .sorted()
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        String result = sides.length == 2
                ? sides[1]
                : letters.chars()
                        .filter(c -> sides[0].indexOf(c) == sides[0].lastIndexOf(c))
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
        int all = letters.chars().map(c -> sizes.getOrDefault((char) c, 2)).reduce(1, (a, b) -> a * b);
        long[] sums = new long
                [result.chars().map(c -> sizes.getOrDefault((char) c, 2)).reduce(1, (a, b) -> a * b)];
        for (int flat = 0; flat < all; flat++) {
            Map<Character, Integer> index = new HashMap<>();
            int rest = flat;
            for (int i = 0; i < letters.length(); i++) {
                char letter = letters.charAt(i);
                index.put(letter, rest % sizes.getOrDefault(letter, 2));
                rest /= sizes.getOrDefault(letter, 2);
            }
            long product = 1;
            for (int i = 0; i < terms.length; i++) {
                product *= operands.get(i).getLong(at(terms[i], index, sizes));
            }
            sums[at(result, index, sizes)] += product;
        }
        return sums;
    }

    private static int at(String term, Map<Character, Integer> index, Map<Character, Integer> sizes) {
        int at = 0;
        for (int i = 0; i < term.length(); i++) {
            char letter = term.charAt(i);
            at = at * sizes.getOrDefault(letter, 2) + index.getOrDefault(letter, 0);
        }
        return at;
    }

    @Test
    void ellipsesAndDimsOfOneBroadcast() {
        NdArray a = Nd.counting(shape(3, 1, 2));
        NdArray b = Nd.counting(shape(2, 2));
        double[] viaMatMul =
                Nd.run(new MatMul(false, false, Epilogue.NONE), a, b).toDoubles();
        assertThat(evaluate("...ij,...jk->...ik", List.of(a, b)).toDoubles()).isEqualTo(viaMatMul);
        NdArray row = Nd.counting(shape(1, 2));
        NdArray column = Nd.counting(shape(3, 1));
        // j is 2 of one and 1 of the other, i the other way round
        assertThat(evaluate("ij,ij->ij", List.of(row, column)).toDoubles()).containsExactly(1, 2, 2, 4, 3, 6);
        assertThat(evaluate("ij,ij->i", List.of(row, column)).toDoubles()).containsExactly(3, 6, 9);
        assertThat(evaluate("...i->...", List.of(b)).toDoubles()).containsExactly(3, 7);
        assertThat(evaluate("i...", List.of(b)).toDoubles()).containsExactly(1, 3, 2, 4);
    }

    @Test
    void namedDimsPassThrough() {
        Shape a = Shape.of(Dim.named("batch"), Dim.of(3), Dim.unknown());
        assertThat(new Einsum("bij,jk->bik").shapes(List.of(a, shape(4, 5))))
                .containsExactly(Shape.of(Dim.named("batch"), Dim.of(3), Dim.of(5)));
    }

    @Test
    void faults() {
        for (String wrong : Arrays.asList("ij->ii", "ij->k", "i1,j", "ij->i->j", "i...j...")) {
            assertThatThrownBy(() -> new Einsum(wrong)).isInstanceOf(ShapeException.class);
        }
        assertThatThrownBy(() -> new Einsum("ij,jk").shapes(List.of(shape(2, 3), shape(4, 5))))
                .hasMessageContaining("dims 3 and 4");
        assertThatThrownBy(() -> new Einsum("ij").shapes(List.of(shape(2, 3, 4))))
                .hasMessageContaining("expected rank 2");
    }
}
