package dev.tenon.cuda.port;

import dev.tenon.core.error.InputException;
import java.util.List;

/**
 * How bulk copies (the tensor memory accelerator, from compute capability 9.0) see the windows of a convolution over
 * images in device memory, channels innermost. A copy takes one cell of the windows at consecutive positions, along
 * lines, then images; cells outside of an image are zeros, as are positions behind the last image.
 *
 * @param element what an element is
 * @param address of the first element, a multiple of 16
 * @param sizes channels, width, height and images, each 1 to 2^32
 * @param strides bytes from one index to the next along width, height and images; multiples of 16 below 2^40
 * @param before padding along width and height: the first window begins there, -128 to 127 elements outside
 * @param last where the last window begins, from the last element of width and height on: -128 to 127
 * @param steps elements from one window to the next along width and height, 1 to 8
 * @param channels that one copy takes, 1 to 256; a multiple of 16 bytes, at most the swizzle's span
 * @param positions that one copy takes, 1 to 1024
 * @param swizzle how the channels of a position are laid into shared memory
 */
public record WindowMap(
        TensorMap.Element element,
        long address,
        List<Long> sizes,
        List<Long> strides,
        List<Integer> before,
        List<Integer> last,
        List<Integer> steps,
        int channels,
        int positions,
        TensorMap.Swizzle swizzle) {
    /** Elements that windows may begin outside of an image, and cells lie from a window's first, along each dim. */
    public static final int FARTHEST = 127;

    /** Elements from one window to the next. */
    public static final int LARGEST_STEP = 8;

    private static final int DIMS = 4;
    private static final int SPATIAL = 2;
    private static final int BYTES = 16;
    private static final int MOST_CHANNELS = 256;
    private static final int MOST_POSITIONS = 1024;
    private static final long LARGEST_SIZE = 1L << 32;
    private static final long LARGEST_STRIDE = 1L << 40;

    /** @throws InputException naming the value that a map of windows cannot have, and what it can */
    public WindowMap {
        sizes = List.copyOf(sizes);
        strides = List.copyOf(strides);
        before = List.copyOf(before);
        last = List.copyOf(last);
        steps = List.copyOf(steps);
        require(
                sizes.size() == DIMS
                        && strides.size() == DIMS - 1
                        && before.size() == SPATIAL
                        && last.size() == SPATIAL
                        && steps.size() == SPATIAL,
                "sizes " + sizes + ", strides " + strides + ", before " + before + ", last " + last + ", steps " + steps
                        + ": expected 4 sizes, 3 strides and 2 of the others");
        require(address % BYTES == 0, "the address 0x" + Long.toHexString(address) + " is no multiple of " + BYTES);
        require(
                sizes.stream().allMatch(size -> size >= 1 && size <= LARGEST_SIZE),
                "sizes " + sizes + ": expected 1 to 2^32 elements each");
        require(
                strides.stream().allMatch(stride -> stride > 0 && stride < LARGEST_STRIDE && stride % BYTES == 0),
                "strides " + strides + ": expected multiples of " + BYTES + " bytes below 2^40");
        require(
                before.stream().allMatch(WindowMap::isNear) && last.stream().allMatch(WindowMap::isNear),
                "windows from " + before + " elements before to " + last + " behind: expected at most " + FARTHEST);
        require(
                steps.stream().allMatch(step -> step >= 1 && step <= LARGEST_STEP),
                "steps " + steps + ": expected 1 to " + LARGEST_STEP);
        require(
                positions >= 1 && positions <= MOST_POSITIONS,
                positions + " positions: expected 1 to " + MOST_POSITIONS);
        int row = channels * element.bytes();
        require(
                channels >= 1 && channels <= MOST_CHANNELS && row % BYTES == 0 && row <= swizzle.span(),
                channels + " channels of " + element + ": expected 1 to " + MOST_CHANNELS + ", in whole " + BYTES
                        + " bytes, at most what " + swizzle + " spans");
    }

    private static boolean isNear(int distance) {
        return distance >= -FARTHEST && distance <= FARTHEST;
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new InputException("map of windows: " + what);
        }
    }
}
