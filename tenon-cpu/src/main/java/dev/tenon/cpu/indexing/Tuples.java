package dev.tenon.cpu.indexing;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import java.lang.foreign.MemorySegment;

/** Index tuples, the last dim of an index tensor, as places in data: what gathers and scatters by tuple share. */
final class Tuples {
    private final Indices indices;
    private final int batchDims;
    private final long[] sizes;
    private final long[] strides;
    private final long perBatch;

    /** How many tuples there are. */
    final long count;
    /** How many slices data has that a tuple may point at. */
    final long targets;
    /** Elements of such a slice. */
    final long slice;

    Tuples(Node node, int batchDims) {
        Shape data = node.input(0).shape();
        Shape tuples = node.input(1).shape();
        int last = tuples.rank() - 1;
        int length = SizeMath.toInt("index tuples", tuples.size(last));
        this.indices = new Indices(node.input(1).dtype(), node.op().mnemonic(), node.name());
        this.batchDims = batchDims;
        this.count = tuples.elements(0, last);
        this.perBatch = Math.max(1, tuples.elements(batchDims, last));
        this.targets = data.elements(0, batchDims + length);
        this.slice = data.elements(batchDims + length, data.rank());
        this.sizes = data.range(batchDims, batchDims + length).sizes();
        this.strides = data.range(batchDims, batchDims + length).strides();
    }

    /** Which slice of data a tuple points at. @throws dev.tenon.core.error.DataException when it is out of range */
    long target(MemorySegment segment, long tuple) {
        long target = 0;
        for (int i = 0; i < sizes.length; i++) {
            target += indices.checked(segment, tuple * sizes.length + i, sizes[i], batchDims + i) * strides[i];
        }
        if (batchDims > 0) {
            // strides are those within a batch
            target += tuple / perBatch * (sizes.length == 0 ? 1 : sizes[0] * strides[0]);
        }
        return target;
    }
}
