package dev.tenon.cpu.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.cpu.loops.Convert;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.loops.TileKind;
import dev.tenon.cpu.step.Registers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** {@link Cast} between tiles. */
final class TileCasts {
    private static final ValueLayout.OfFloat F32 = Loops.F32;
    private static final ValueLayout.OfDouble F64 = Convert.F64;
    private static final ValueLayout.OfLong I64 = Convert.I64;
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;

    private TileCasts() {}

    static void cast(DType from, Cast cast, Registers registers, int source, int target, int n) {
        MemorySegment a = registers.segments[source];
        long ao = registers.offsets[source];
        MemorySegment y = registers.segments[target];
        long yo = registers.offsets[target];
        DType to = cast.to();
        switch (TileKind.of(to)) {
            case FLOAT -> {
                boolean halves = to.bits() == 16 && TileKind.of(from) == TileKind.LONG;
                if (halves || from == DType.F64 && to != DType.F32) {
                    toNarrow(from, cast, a, ao, y, yo, n);
                    return;
                }
                toFloat(from, a, ao, y, yo, n);
                if (to != DType.F32) {
                    Convert.round(to, cast.saturate(), y, yo, y, yo, n);
                }
            }
            case DOUBLE -> toDouble(from, a, ao, y, yo, n);
            case LONG -> toLong(from, to, a, ao, y, yo, n);
            case BOOL -> toBool(from, a, ao, y, yo, n);
        }
    }

    /** Of numbers that f32 may not hold: by way of it they would be rounded twice. */
    private static void toNarrow(DType from, Cast cast, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        DType to = cast.to();
        double largest = to == DType.F8E4M3 ? 448 : 57344;
        boolean saturate = cast.saturate() && to.bits() == 8;
        for (int i = 0; i < n; i++) {
            double value = from == DType.F64 ? a.get(F64, ao + 8L * i) : number(from, a.get(I64, ao + 8L * i));
            double rounded = saturate && Math.abs(value) > largest
                    ? Math.copySign(largest, value)
                    : Elements.toDouble(to, Elements.fromDouble(to, value));
            y.set(F32, yo + 4L * i, (float) rounded);
        }
    }

    private static void toFloat(DType from, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        switch (TileKind.of(from)) {
            case FLOAT -> {
                MemorySegment.copy(a, ao, y, yo, 4L * n);
            }
            case DOUBLE -> {
                for (int i = 0; i < n; i++) {
                    y.set(F32, yo + 4L * i, (float) a.get(F64, ao + 8L * i));
                }
            }
            case LONG -> {
                for (int i = 0; i < n; i++) {
                    y.set(F32, yo + 4L * i, (float) number(from, a.get(I64, ao + 8L * i)));
                }
            }
            case BOOL -> {
                for (int i = 0; i < n; i++) {
                    y.set(F32, yo + 4L * i, a.get(I8, ao + i) != 0 ? 1f : 0f);
                }
            }
        }
    }

    /** Tiles hold u64 as its bits. */
    private static double number(DType from, long value) {
        return from == DType.U64 && value < 0 ? Elements.toDouble(from, value) : value;
    }

    private static void toDouble(DType from, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            double value = switch (TileKind.of(from)) {
                case FLOAT -> a.get(F32, ao + 4L * i);
                case DOUBLE -> a.get(F64, ao + 8L * i);
                case LONG -> number(from, a.get(I64, ao + 8L * i));
                case BOOL -> a.get(I8, ao + i) != 0 ? 1 : 0;
            };
            y.set(F64, yo + 8L * i, value);
        }
    }

    private static void toLong(DType from, DType to, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        switch (TileKind.of(from)) {
            case FLOAT -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, integer(to, a.get(F32, ao + 4L * i)));
                }
            }
            case DOUBLE -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, integer(to, a.get(F64, ao + 8L * i)));
                }
            }
            case LONG -> {
                MemorySegment.copy(a, ao, y, yo, 8L * n);
                TileLoops.wrap(to, y, yo, n);
            }
            case BOOL -> {
                for (int i = 0; i < n; i++) {
                    y.set(I64, yo + 8L * i, a.get(I8, ao + i) != 0 ? 1 : 0);
                }
            }
        }
    }

    private static long integer(DType to, double value) {
        return to == DType.I64 ? (long) value : Elements.toLong(to, Elements.fromDouble(to, value));
    }

    private static void toBool(DType from, MemorySegment a, long ao, MemorySegment y, long yo, int n) {
        for (int i = 0; i < n; i++) {
            boolean holds = switch (TileKind.of(from)) {
                case FLOAT -> a.get(F32, ao + 4L * i) != 0;
                case DOUBLE -> a.get(F64, ao + 8L * i) != 0;
                case LONG -> a.get(I64, ao + 8L * i) != 0;
                case BOOL -> a.get(I8, ao + i) != 0;
            };
            y.set(I8, yo + i, (byte) (holds ? 1 : 0));
        }
    }
}
