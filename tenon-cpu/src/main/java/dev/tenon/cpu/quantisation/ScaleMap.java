package dev.tenon.cpu.quantisation;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;

/** How scales or zero points lie over a tensor: which one an element has, and how many elements on have the same. */
final class ScaleMap {
    private final boolean single;
    private final long inner;
    private final long size;
    private final long block;
    private final long blocks;

    /**
     * The scales or zero points that are an input of a node, over its first one; nothing lies over it where there is no
     * such input.
     */
    static ScaleMap of(Node node, int input, int axis, long block) {
        Shape x = node.input(0).shape();
        boolean there = input < node.inputs().size();
        return new ScaleMap(there ? node.input(input).shape() : Shape.scalar(), x, axis, block);
    }

    /** One scale, one an index of the axis, or one a block along the axis. */
    private ScaleMap(Shape scales, Shape x, int axis, long block) {
        this.single = scales.elements() == 1;
        this.inner = single ? 1 : x.elements(axis + 1, x.rank());
        this.size = single ? 1 : x.size(axis);
        this.block = block;
        this.blocks = single || block == 0 ? 1 : scales.size(axis);
    }

    /** The scale of an element. */
    long at(long element) {
        if (single) {
            return 0;
        }
        long along = element / inner % size;
        return block == 0 ? along : (element / (inner * size) * blocks + along / block) * inner + element % inner;
    }

    /** One past the last of the elements from this one on that have its scale, not past a limit. */
    long end(long element, long limit) {
        if (single) {
            return limit;
        }
        if (block == 0) {
            return Math.min(limit, (element / inner + 1) * inner);
        }
        if (inner > 1) {
            return element + 1;
        }
        long along = element % size;
        return Math.min(limit, element - along + Math.min(size, (along / block + 1) * block));
    }
}
