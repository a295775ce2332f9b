package dev.tenon.cpu.loops;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.lazy.Lazy;
import dev.tenon.cpu.machine.RegionKernel;
import dev.tenon.cpu.machine.RegionKernel.Element;
import dev.tenon.cpu.memory.Matrix;
import dev.tenon.cpu.memory.Place;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Between memory of any element type and tiles of its {@link TileKind}. Positions in typed memory are elements, in
 * tiles bytes.
 */
public final class Convert {
    public static final ValueLayout.OfShort I16 = ValueLayout.JAVA_SHORT_UNALIGNED;
    public static final ValueLayout.OfInt I32 = ValueLayout.JAVA_INT_UNALIGNED;
    public static final ValueLayout.OfLong I64 = ValueLayout.JAVA_LONG_UNALIGNED;
    public static final ValueLayout.OfDouble F64 = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    private static final ValueLayout.OfByte I8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfFloat F32 = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final float[] E4M3 = codes(DType.F8E4M3);
    private static final float[] E5M2 = codes(DType.F8E5M2);

    /** Elements of 16 bits that are worth a call of machine code. */
    private static final int WORTH = 64;

    private static final float[] NONE = {};
    private static final Lazy<Optional<Shorts>> SHORTS = new Lazy<>() {
        @Override
        protected Optional<Shorts> make() {
            try {
                return MachineLoops.available() ? Optional.of(Shorts.make()) : Optional.empty();
            } catch (IllegalStateException e) {
                System.getLogger("dev.tenon.cpu").log(Level.DEBUG, "loops over floats of 16 bits run in Java", e);
                return Optional.empty();
            }
        }
    };

    private Convert() {}

    private static float[] codes(DType dtype) {
        float[] all = new float[256];
        for (int code = 0; code < all.length; code++) {
            all[code] = (float) Elements.toDouble(dtype, code);
        }
        return all;
    }

    /**
     * Reads n elements from {@code from} on into a tile. Types that a tile holds as they are come first, and the others
     * have methods of their own: C2 puts all that this method says into each of its many callers.
     */
    public static void load(DType dtype, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        switch (dtype) {
            case F32 -> MemorySegment.copy(x, 4 * from, tile, offset, 4L * n);
            case F64, I64, U64 -> MemorySegment.copy(x, 8 * from, tile, offset, 8L * n);
            case BOOL -> MemorySegment.copy(x, from, tile, offset, n);
            case F16 -> loadHalves(x, from, tile, offset, n);
            case BF16 -> loadBfloats(x, from, tile, offset, n);
            case F8E4M3 -> loadCodes(E4M3, x, from, tile, offset, n);
            case F8E5M2 -> loadCodes(E5M2, x, from, tile, offset, n);
            case I32, U32 -> loadInts(dtype == DType.U32 ? 0xFFFF_FFFFL : -1, x, from, tile, offset, n);
            case I16, U16 -> loadShorts(dtype == DType.U16 ? 0xFFFFL : -1, x, from, tile, offset, n);
            case I8, U8 -> loadBytes(dtype == DType.U8 ? 0xFFL : -1, x, from, tile, offset, n);
            case I4, U4 -> loadPacked(dtype, x, from, tile, offset, n);
        }
    }

    /** Loops over floats of 16 bits in machine code. */
    private record Shorts(RegionKernel halves, RegionKernel bfloats, RegionKernel toHalves, RegionKernel toBfloats) {
        static Shorts make() {
            return new Shorts(
                    kernel(Element.F16, Element.F32),
                    kernel(Element.BF16, Element.F32),
                    kernel(Element.F32, Element.F16),
                    kernel(Element.F32, Element.BF16));
        }

        private static RegionKernel kernel(Element from, Element to) {
            RegionKernel.Step copy = new RegionKernel.Step(RegionKernel.Word.COPY, 0, 0, 0, 0);
            RegionKernel.Form form = new RegionKernel.Form(List.of(from), 0, List.of(copy), to);
            return Objects.requireNonNull(RegionKernel.make(MachineLoops.lanes(), form));
        }

        static void run(RegionKernel kernel, Place x, Place y, int n) {
            kernel.run(1, n, new Matrix[] {x.matrix()}, NONE, y.matrix(), false, MachineLoops.arguments());
        }
    }

    /** Empty where machine code does not take them. */
    private static Optional<Shorts> shorts(MemorySegment x, MemorySegment y, int n) {
        return n >= WORTH && Segments.isNative(x) && Segments.isNative(y) ? SHORTS.get() : Optional.empty();
    }

    private static void loadHalves(MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        Optional<Shorts> machine = shorts(x, tile, n);
        if (machine.isPresent()) {
            Shorts.run(machine.get().halves, new Place(x, 2 * from), new Place(tile, offset), n);
            return;
        }
        for (int i = 0; i < n; i++) {
            tile.set(F32, offset + 4L * i, Float.float16ToFloat(x.get(I16, 2 * from + 2L * i)));
        }
    }

    private static void loadBfloats(MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        Optional<Shorts> machine = shorts(x, tile, n);
        if (machine.isPresent()) {
            Shorts.run(machine.get().bfloats, new Place(x, 2 * from), new Place(tile, offset), n);
            return;
        }
        for (int i = 0; i < n; i++) {
            tile.set(I32, offset + 4L * i, x.get(I16, 2 * from + 2L * i) << 16);
        }
    }

    private static void loadInts(long mask, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        for (int i = 0; i < n; i++) {
            tile.set(I64, offset + 8L * i, x.get(I32, 4 * from + 4L * i) & mask);
        }
    }

    private static void loadShorts(long mask, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        for (int i = 0; i < n; i++) {
            tile.set(I64, offset + 8L * i, x.get(I16, 2 * from + 2L * i) & mask);
        }
    }

    private static void loadBytes(long mask, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        for (int i = 0; i < n; i++) {
            tile.set(I64, offset + 8L * i, x.get(I8, from + i) & mask);
        }
    }

    private static void loadPacked(DType dtype, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        for (int i = 0; i < n; i++) {
            tile.set(I64, offset + 8L * i, Elements.getLong(dtype, x, from + i));
        }
    }

    private static void loadCodes(float[] table, MemorySegment x, long from, MemorySegment tile, long offset, int n) {
        for (int i = 0; i < n; i++) {
            tile.set(F32, offset + 4L * i, table[x.get(I8, from + i) & 0xFF]);
        }
    }

    /** Writes n elements of a tile from {@code from} on, rounded or wrapped to the type. */
    public static void store(DType dtype, MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        switch (dtype) {
            case F32 -> MemorySegment.copy(tile, offset, y, 4 * from, 4L * n);
            case F64, I64, U64 -> MemorySegment.copy(tile, offset, y, 8 * from, 8L * n);
            case BOOL -> MemorySegment.copy(tile, offset, y, from, n);
            case F16 -> storeHalves(tile, offset, y, from, n);
            case BF16 -> storeBfloats(tile, offset, y, from, n);
            case F8E4M3, F8E5M2 -> storeCodes(dtype, tile, offset, y, from, n);
            case I32, U32 -> storeInts(tile, offset, y, from, n);
            case I16, U16 -> storeShorts(tile, offset, y, from, n);
            case I8, U8 -> storeBytes(tile, offset, y, from, n);
            case I4, U4 -> storePacked(dtype, tile, offset, y, from, n);
        }
    }

    private static void storeHalves(MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        Optional<Shorts> machine = shorts(tile, y, n);
        if (machine.isPresent()) {
            Shorts.run(machine.get().toHalves, new Place(tile, offset), new Place(y, 2 * from), n);
            return;
        }
        for (int i = 0; i < n; i++) {
            y.set(I16, 2 * from + 2L * i, Float.floatToFloat16(tile.get(F32, offset + 4L * i)));
        }
    }

    private static void storeBfloats(MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        Optional<Shorts> machine = shorts(tile, y, n);
        if (machine.isPresent()) {
            Shorts.run(machine.get().toBfloats, new Place(tile, offset), new Place(y, 2 * from), n);
            return;
        }
        for (int i = 0; i < n; i++) {
            y.set(I16, 2 * from + 2L * i, bfloat16(tile.get(F32, offset + 4L * i)));
        }
    }

    private static void storeCodes(DType dtype, MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I8, from + i, (byte) Elements.fromDouble(dtype, tile.get(F32, offset + 4L * i)));
        }
    }

    private static void storeInts(MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I32, 4 * from + 4L * i, (int) tile.get(I64, offset + 8L * i));
        }
    }

    private static void storeShorts(MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I16, 2 * from + 2L * i, (short) tile.get(I64, offset + 8L * i));
        }
    }

    private static void storeBytes(MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        for (int i = 0; i < n; i++) {
            y.set(I8, from + i, (byte) tile.get(I64, offset + 8L * i));
        }
    }

    private static void storePacked(DType dtype, MemorySegment tile, long offset, MemorySegment y, long from, int n) {
        for (int i = 0; i < n; i++) {
            Elements.setLong(dtype, y, from + i, tile.get(I64, offset + 8L * i));
        }
    }

    /** Round to nearest even. */
    static short bfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int rounded = (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16;
        return (short) (Float.isNaN(value) ? bits >>> 16 | 0x40 : rounded);
    }

    /** Rounds a tile of floats to the values that a short float type has. */
    public static void round(
            DType dtype, boolean saturate, MemorySegment x, long xOffset, MemorySegment y, long yOffset, int n) {
        double largest = dtype == DType.F8E4M3 ? 448 : dtype == DType.F8E5M2 ? 57344 : Double.POSITIVE_INFINITY;
        for (int i = 0; i < n; i++) {
            float value = x.get(F32, xOffset + 4L * i);
            float rounded = switch (dtype) {
                case F16 -> Float.float16ToFloat(Float.floatToFloat16(value));
                case BF16 -> Float.intBitsToFloat(bfloat16(value) << 16);
                case F8E4M3, F8E5M2 ->
                    saturate && Math.abs(value) > largest
                            ? Math.copySign((float) largest, value)
                            : (float) Elements.toDouble(dtype, Elements.fromDouble(dtype, value));
                case F64, F32, I64, I32, I16, I8, I4, U64, U32, U16, U8, U4, BOOL -> value;
            };
            y.set(F32, yOffset + 4L * i, rounded);
        }
    }
}
