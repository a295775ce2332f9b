package dev.tenon.core.ir.op.image;

import static dev.tenon.core.ir.op.Nd.check;
import static dev.tenon.core.ir.op.Nd.counting;
import static dev.tenon.core.ir.op.Nd.f32;
import static dev.tenon.core.ir.op.Nd.shape;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.core.build.GraphBuilder;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Dim;
import dev.tenon.core.ir.Known;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.Value;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Resize and ResizeBy against the numbers of ONNX's own tests. */
class ResizeTest {
    private static final NdArray SIXTEEN = counting(shape(1, 1, 4, 4));
    private static final NdArray EIGHT = counting(shape(1, 1, 2, 4));
    private static final NdArray FOUR = counting(shape(1, 1, 2, 2));

    /** What a ResizeBy with all else as ONNX defaults it gives. */
    private record Case(
            ResizeMode mode,
            CoordinateMode coordinates,
            NearestMode nearest,
            double cubic,
            boolean exclude,
            boolean antialias,
            AspectPolicy aspect,
            List<Integer> axes) {
        static Case of(ResizeMode mode) {
            return new Case(
                    mode,
                    CoordinateMode.HALF_PIXEL,
                    NearestMode.ROUND_PREFER_FLOOR,
                    -0.75,
                    false,
                    false,
                    AspectPolicy.STRETCH,
                    List.of());
        }

        Case with(CoordinateMode other) {
            return new Case(mode, other, nearest, cubic, exclude, antialias, aspect, axes);
        }

        Case rounding(NearestMode other) {
            return new Case(mode, coordinates, other, cubic, exclude, antialias, aspect, axes);
        }

        Case excluding() {
            return new Case(mode, coordinates, nearest, -0.5, true, antialias, aspect, axes);
        }

        Case antialiased() {
            return new Case(mode, coordinates, nearest, cubic, exclude, true, aspect, axes);
        }

        Case on(AspectPolicy policy, Integer... some) {
            return new Case(mode, coordinates, nearest, cubic, exclude, antialias, policy, List.of(some));
        }

        NdArray scaled(NdArray x, double... scales) {
            return resolved(x, true, null, f32(scales));
        }

        NdArray sized(NdArray x, long... sizes) {
            return resolved(x, false, null, NdArray.ofLongs(sizes));
        }

        NdArray cropped(NdArray x, NdArray roi, long... sizes) {
            return resolved(x, false, roi, NdArray.ofLongs(sizes));
        }

        private NdArray resolved(NdArray x, boolean scales, @Nullable NdArray roi, NdArray last) {
            ResizeBy op = new ResizeBy(
                    mode,
                    coordinates,
                    nearest,
                    cubic,
                    exclude,
                    10,
                    antialias,
                    aspect,
                    axes,
                    roi != null,
                    scales,
                    !scales);
            GraphBuilder g = new GraphBuilder("resize");
            Value value = g.input("x", x.type());
            Value second = g.input("last", last.type());
            List<Value> inputs =
                    roi == null ? List.of(value, second) : List.of(value, g.input("roi", roi.type()), second);
            List<NdArray> known = roi == null ? List.of(x, last) : List.of(x, roi, last);
            Value result = op.resolve(g, inputs, Known.of(known)).getFirst();
            return result.origin() instanceof Value.Origin.Result(var node, int _)
                    ? ((Resize) node.op()).evaluate(List.of(x)).getFirst()
                    : x;
        }
    }

    @Test
    void linear() {
        Case linear = Case.of(ResizeMode.LINEAR);
        check(
                linear.scaled(FOUR, 1, 1, 2, 2),
                shape(1, 1, 4, 4),
                1,
                1.25,
                1.75,
                2,
                1.5,
                1.75,
                2.25,
                2.5,
                2.5,
                2.75,
                3.25,
                3.5,
                3,
                3.25,
                3.75,
                4);
        check(linear.scaled(EIGHT, 1, 1, 0.6, 0.6), shape(1, 1, 1, 2), 2.6666665077209473, 4.3333330154418945);
        check(
                linear.with(CoordinateMode.ALIGN_CORNERS).scaled(EIGHT, 1, 1, 0.6, 0.6),
                shape(1, 1, 1, 2),
                1,
                3.142857074737549);
        check(
                linear.with(CoordinateMode.HALF_PIXEL_SYMMETRIC).scaled(counting(shape(1, 1, 1, 4)), 1, 1, 1, 0.6),
                shape(1, 1, 1, 2),
                1.6666667461395264,
                3.3333332538604736);
        check(
                linear.with(CoordinateMode.HALF_PIXEL_SYMMETRIC).scaled(FOUR, 1, 1, 2.3, 2.94),
                shape(1, 1, 4, 5),
                1,
                1.1598639488220215,
                1.5,
                1.8401360511779785,
                2,
                1.56521737575531,
                1.7250813245773315,
                2.0652174949645996,
                2.405353546142578,
                2.5652174949645996,
                2.4347825050354004,
                2.594646453857422,
                2.9347825050354004,
                3.274918556213379,
                3.4347825050354004,
                3,
                3.1598639488220215,
                3.5,
                3.8401360511779785,
                4);
    }

    @Test
    void antialiased() {
        check(
                Case.of(ResizeMode.LINEAR).antialiased().scaled(SIXTEEN, 1, 1, 0.6, 0.6),
                shape(1, 1, 2, 2),
                2.875,
                4.5,
                9.375,
                11);
        check(
                Case.of(ResizeMode.LINEAR).antialiased().sized(SIXTEEN, 1, 1, 3, 3),
                shape(1, 1, 3, 3),
                2.3636362552642822,
                3.590909004211426,
                4.818181991577148,
                7.2727274894714355,
                8.5,
                9.727272987365723,
                12.181818008422852,
                13.409090995788574,
                14.636363983154297);
        check(
                Case.of(ResizeMode.CUBIC).antialiased().scaled(SIXTEEN, 1, 1, 0.6, 0.6),
                shape(1, 1, 2, 2),
                2.5180721282958984,
                4.285886287689209,
                9.58932876586914,
                11.357142448425293);
    }

    @Test
    void cubic() {
        check(
                Case.of(ResizeMode.CUBIC).excluding().scaled(SIXTEEN, 1, 1, 0.8, 0.8),
                shape(1, 1, 3, 3),
                1.3681267499923706,
                2.669501304626465,
                4.013336658477783,
                6.573625087738037,
                7.875,
                9.21883487701416,
                11.948966026306152,
                13.250341415405273,
                14.594176292419434);
        check(
                Case.of(ResizeMode.CUBIC).with(CoordinateMode.ALIGN_CORNERS).scaled(SIXTEEN, 1, 1, 0.8, 0.8),
                shape(1, 1, 3, 3),
                1,
                2.3951916694641113,
                3.7903831005096436,
                6.580766201019287,
                7.975957870483398,
                9.371149063110352,
                12.161532402038574,
                13.556723594665527,
                14.951915740966797);
    }

    @Test
    void nearest() {
        Case nearest = Case.of(ResizeMode.NEAREST);
        check(nearest.scaled(EIGHT, 1, 1, 0.6, 0.6), shape(1, 1, 1, 2), 1, 3);
        check(nearest.sized(EIGHT, 1, 1, 1, 3), shape(1, 1, 1, 3), 1, 2, 4);
        NdArray floor = nearest.with(CoordinateMode.ALIGN_CORNERS)
                .rounding(NearestMode.FLOOR)
                .sized(SIXTEEN, 1, 1, 8, 8);
        assertThat(Arrays.copyOf(floor.toDoubles(), 8)).containsExactly(1, 1, 1, 2, 2, 3, 3, 4);
        NdArray ceil = nearest.with(CoordinateMode.ASYMMETRIC)
                .rounding(NearestMode.ROUND_PREFER_CEIL)
                .sized(SIXTEEN, 1, 1, 8, 8);
        assertThat(Arrays.copyOf(ceil.toDoubles(), 8)).containsExactly(1, 2, 2, 3, 3, 4, 4, 4);
        check(
                nearest.on(AspectPolicy.STRETCH, 3, -2).scaled(FOUR, 3, 2),
                shape(1, 1, 4, 6),
                1,
                1,
                1,
                2,
                2,
                2,
                1,
                1,
                1,
                2,
                2,
                2,
                3,
                3,
                3,
                4,
                4,
                4,
                3,
                3,
                3,
                4,
                4,
                4);
        NdArray smaller = nearest.on(AspectPolicy.NOT_SMALLER, 2, 3).sized(FOUR, 7, 8);
        assertThat(smaller.shape()).isEqualTo(shape(1, 1, 8, 8));
        assertThat(Arrays.copyOfRange(smaller.toDoubles(), 24, 40))
                .containsExactly(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4);
        assertThat(nearest.on(AspectPolicy.NOT_LARGER, 2, 3).sized(FOUR, 7, 8).shape())
                .isEqualTo(shape(1, 1, 7, 7));
    }

    @Test
    void aScaleThatF32RoundsDownStillMakesTheWholeSize() {
        NdArray ten = counting(shape(10));
        check(Case.of(ResizeMode.NEAREST).scaled(ten, 0.7), shape(7), 1, 3, 4, 5, 7, 8, 10);
    }

    @Test
    void cropsGiveTheExtrapolationOutside() {
        Case crop = Case.of(ResizeMode.LINEAR).with(CoordinateMode.TF_CROP_AND_RESIZE);
        check(
                crop.cropped(SIXTEEN, f32(0, 0, 0.4, 0.6, 1, 1, 0.6, 0.8), 1, 1, 3, 3),
                shape(1, 1, 3, 3),
                7.600000381469727,
                7.900000095367432,
                8.199999809265137,
                8.800000190734863,
                9.100000381469727,
                9.40000057220459,
                10.0,
                10.300000190734863,
                10.600000381469727);
        check(
                crop.cropped(SIXTEEN, f32(0, 0, 0.4, 0.6, 1, 1, 1.2, 1.7), 1, 1, 3, 3),
                shape(1, 1, 3, 3),
                7.600000381469727,
                10,
                10,
                12.40000057220459,
                10,
                10,
                10,
                10,
                10);
        check(
                crop.on(AspectPolicy.STRETCH, 3, 2).cropped(SIXTEEN, f32(0.6, 0.4, 0.8, 0.6), 3, 3),
                shape(1, 1, 3, 3),
                7.600000381469727,
                7.900000095367432,
                8.199999809265137,
                8.800000190734863,
                9.100000381469727,
                9.40000057220459,
                10.0,
                10.300000190734863,
                10.600000381469727);
    }

    @Test
    void whatDoesNotChangeIsNotTouched() {
        assertThat(Case.of(ResizeMode.LINEAR).sized(FOUR, 1, 1, 2, 2)).isSameAs(FOUR);
    }

    @Test
    void onlyNamedAxesAreUnknownBefore() {
        ResizeBy op = new ResizeBy(
                ResizeMode.NEAREST,
                CoordinateMode.ASYMMETRIC,
                NearestMode.FLOOR,
                0,
                false,
                0,
                false,
                AspectPolicy.STRETCH,
                List.of(2),
                false,
                true,
                false);
        Shape x = Shape.of(Dim.named("n"), Dim.of(3), Dim.of(5));
        assertThat(op.dtypes(List.of(DType.U8, DType.F32))).containsExactly(DType.U8);
        assertThat(op.shapes(List.of(x, shape(1)))).containsExactly(x.with(2, Dim.unknown()));
    }
}
