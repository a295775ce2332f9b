package dev.tenon.cuda.port;

import java.util.List;

/**
 * How bulk copies (the tensor memory accelerator, from compute capability 9.0) see a tensor in device memory.
 *
 * @param element what an element is
 * @param address of the first element, a multiple of 16
 * @param sizes elements along each dimension, the contiguous one first; 1 to 5 dimensions
 * @param strides bytes from one index to the next along each dimension but the first; multiples of 16
 * @param box elements that one copy takes along each dimension, at most 256
 * @param swizzle how a box's rows are laid into shared memory
 */
public record TensorMap(
        Element element, long address, List<Long> sizes, List<Long> strides, List<Integer> box, Swizzle swizzle) {
    /** Types of elements. */
    public enum Element {
        U8,
        F16,
        BF16,
        F32,
        TF32
    }

    /** The span of bytes within which 16-byte pieces change places; the box's first dimension must not be wider. */
    public enum Swizzle {
        NONE,
        BYTES_32,
        BYTES_64,
        BYTES_128
    }

    public TensorMap {
        sizes = List.copyOf(sizes);
        strides = List.copyOf(strides);
        box = List.copyOf(box);
        if (sizes.isEmpty() || sizes.size() > 5 || box.size() != sizes.size() || strides.size() != sizes.size() - 1) {
            throw new IllegalArgumentException("tensor map with sizes " + sizes + ", strides " + strides + ", box "
                    + box + ": expected 1 to 5 sizes, as many in the box, and one stride less");
        }
    }
}
