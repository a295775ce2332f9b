package dev.tenon.cuda.port;

import dev.tenon.core.error.InputException;
import java.util.List;

/**
 * How bulk copies (the tensor memory accelerator, from compute capability 9.0) see a tensor in device memory. Elements
 * outside the tensor are copied as zeros. Along the first dimension a box is taken from multiples of 16 bytes, inside
 * and outside the tensor: other places end the kernel, and the context, with an illegal instruction (seen on an H200).
 *
 * @param element what an element is
 * @param address of the first element, a multiple of 16
 * @param sizes elements along each dimension, the contiguous one first; 1 to 5 dimensions of 1 to 2^32
 * @param strides bytes from one index to the next along each dimension but the first; multiples of 16 below 2^40
 * @param box elements that one copy takes along each dimension, 1 to 256; a multiple of 16 bytes along the first
 * @param swizzle how a box's rows are laid into shared memory
 */
public record TensorMap(
        Element element, long address, List<Long> sizes, List<Long> strides, List<Integer> box, Swizzle swizzle) {
    /** Of the encoded map, among a kernel's arguments. */
    public static final int ALIGNMENT = 128;

    /** What address, strides and a box's rows are multiples of. */
    private static final int BYTES = 16;

    private static final int MOST_DIMS = 5;
    private static final int LARGEST_BOX = 256;
    private static final long LARGEST_SIZE = 1L << 32;
    private static final long LARGEST_STRIDE = 1L << 40;

    /** Types of elements. */
    public enum Element {
        U8(1),
        F16(2),
        BF16(2),
        F32(4),
        TF32(4);

        private final int bytes;

        Element(int bytes) {
            this.bytes = bytes;
        }

        public int bytes() {
            return bytes;
        }
    }

    /** The span of bytes within which 16-byte pieces change places; the box's first dimension must not be wider. */
    public enum Swizzle {
        NONE(Integer.MAX_VALUE),
        BYTES_32(32),
        BYTES_64(64),
        BYTES_128(128);

        private final int span;

        Swizzle(int span) {
            this.span = span;
        }

        /** Bytes. */
        int span() {
            return span;
        }
    }

    /** @throws InputException naming the value that a tensor map cannot have, and what it can */
    public TensorMap {
        sizes = List.copyOf(sizes);
        strides = List.copyOf(strides);
        box = List.copyOf(box);
        require(
                !sizes.isEmpty()
                        && sizes.size() <= MOST_DIMS
                        && box.size() == sizes.size()
                        && strides.size() == sizes.size() - 1,
                "sizes " + sizes + ", strides " + strides + ", box " + box
                        + ": expected 1 to 5 sizes, as many in the box, and one stride less");
        require(address % BYTES == 0, "the address 0x" + Long.toHexString(address) + " is no multiple of " + BYTES);
        for (long size : sizes) {
            require(size >= 1 && size <= LARGEST_SIZE, "sizes " + sizes + ": expected 1 to 2^32 elements each");
        }
        for (long stride : strides) {
            require(
                    stride > 0 && stride < LARGEST_STRIDE && stride % BYTES == 0,
                    "strides " + strides + ": expected multiples of " + BYTES + " bytes below 2^40");
        }
        for (int size : box) {
            require(
                    size >= 1 && size <= LARGEST_BOX,
                    "box " + box + ": expected 1 to " + LARGEST_BOX + " elements each");
        }
        int row = box.getFirst() * element.bytes();
        require(
                row % BYTES == 0,
                "box " + box + " of " + element + " has rows of " + row + " bytes; expected a multiple of " + BYTES);
        require(
                row <= swizzle.span,
                "box " + box + " of " + element + " has rows of " + row + " bytes; " + swizzle + " takes at most "
                        + swizzle.span);
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new InputException("tensor map: " + what);
        }
    }
}
