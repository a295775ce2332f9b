package dev.tenon.cuda.tuning;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SiblingsTest {
    private final Siblings<String> siblings = new Siblings<>();

    @Test
    void sizesWithinAFactorOfFourShareAnAlgorithm() {
        siblings.put("conv", 1000, "a");
        assertThat(siblings.near("conv", 1000)).isEqualTo("a");
        assertThat(siblings.near("conv", 250)).isEqualTo("a");
        assertThat(siblings.near("conv", 4000)).isEqualTo("a");
        assertThat(siblings.near("conv", 249)).isNull();
        assertThat(siblings.near("conv", 4001)).isNull();
    }

    @Test
    void sizesWithinAFactorOfSixteenAreOfOneStream() {
        assertThat(siblings.isLater("conv", 1000)).isFalse();
        siblings.put("conv", 1000, "a");
        assertThat(siblings.isLater("conv", 16_000)).isTrue();
        assertThat(siblings.isLater("conv", 63)).isTrue();
        assertThat(siblings.isLater("conv", 62)).isFalse();
        assertThat(siblings.isLater("conv", 16_001)).isFalse();
        assertThat(siblings.isLater("other", 1000)).isFalse();
    }

    @Test
    void nearestIsTheOneOfTheSmallestRatio() {
        siblings.put("conv", 100, "below");
        siblings.put("conv", 190, "above");
        assertThat(siblings.near("conv", 137)).isEqualTo("below");
        assertThat(siblings.near("conv", 139)).isEqualTo("above");
        siblings.put("conv", 139, "there");
        assertThat(siblings.near("conv", 139)).isEqualTo("there");
    }

    @Test
    void algorithmsOfAStreamAreThoseOfTheNearestOfIt() {
        siblings.put("conv", 1000, "a");
        assertThat(siblings.inStream("conv", 16_000)).isEqualTo("a");
        assertThat(siblings.inStream("conv", 16_001)).isNull();
        siblings.put("conv", 9000, "b");
        assertThat(siblings.inStream("conv", 16_001)).isEqualTo("b");
    }

    @Test
    void otherKindsShareNothing() {
        siblings.put("conv", 100, "a");
        assertThat(siblings.near("other", 100)).isNull();
    }

    @Test
    void sizesOfNothingAreSizesToo() {
        siblings.put("conv", 0, "a");
        assertThat(siblings.near("conv", 0)).isEqualTo("a");
        assertThat(siblings.near("conv", 1)).isEqualTo("a");
        assertThat(siblings.near("conv", 5)).isNull();
    }
}
