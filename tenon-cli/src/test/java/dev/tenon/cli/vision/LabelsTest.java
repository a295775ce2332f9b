package dev.tenon.cli.vision;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LabelsTest {
    @Test
    void formsOfMetadataAreUnderstood() {
        for (String text : new String[] {
            "{0: 'cat', 1: \"dog's\", 2: 'a: b, c'}",
            "{\"0\": \"cat\", \"1\": \"dog's\", \"2\": \"a: b, c\"}",
            "['cat', 'dog\\'s', 'a: b, c']",
            "[\"cat\", \"dog's\", \"a: b, c\"]",
            "cat\ndog's\r\na: b, c\n"
        }) {
            Labels labels = Labels.parse(text);
            assertThat(labels.size()).as(text).isEqualTo(3);
            assertThat(labels.name(0, 3)).isEqualTo("cat");
            assertThat(labels.name(1, 3)).isEqualTo("dog's");
            assertThat(labels.name(2, 3)).isEqualTo("a: b, c");
        }
        assertThat(Labels.parse("cat, dog").name(1, 2)).isEqualTo("dog");
    }

    @Test
    void classWithoutANameIsItsNumber() {
        assertThat(Labels.none().name(7, 1000)).isEqualTo("class 7");
        Labels labels = Labels.of(Map.of("producer", "x", "names", "{1: 'one'}"));
        assertThat(labels.name(0, 5)).isEqualTo("class 0");
        assertThat(labels.name(1, 5)).isEqualTo("one");
    }

    @Test
    void oneClassMoreThanNamesIsABackground() {
        Labels labels = Labels.parse("cat\ndog");
        assertThat(labels.name(0, 3)).isEqualTo("background");
        assertThat(labels.name(2, 3)).isEqualTo("dog");
    }

    @Test
    void resultsBecomeProbabilities() {
        assertThat(Scores.of(new double[] {0.25, 0.75}).probability(1)).isEqualTo(0.75);
        Scores scores = Scores.of(new double[] {1000, 1000, -1000});
        assertThat(scores.probability(0)).isEqualTo(0.5);
        assertThat(scores.top(2)).containsExactly(0, 1);
    }
}
