package dev.tenon.collective;

/**
 * The division of a vector among ranks: chunk {@code i} of {@code world} is the elements from {@code i*length/world} to
 * {@code (i+1)*length/world}. Any length will do, 0 and less than the world too: chunks then differ by one element, or
 * are empty.
 *
 * @param length elements in all
 * @param world number of chunks
 */
public record Chunks(long length, int world) {
    /** The first element of a chunk. */
    public long start(int chunk) {
        // without a product that could pass 2^63
        return length / world * chunk + length % world * chunk / world;
    }

    /** The element after the last of a chunk. */
    public long end(int chunk) {
        return start(chunk + 1);
    }

    /** Elements of a chunk. */
    public long size(int chunk) {
        return end(chunk) - start(chunk);
    }

    /** The chunk that an element lies in. */
    public int of(long element) {
        int chunk = length < world ? world - 1 : (int) Math.min(world - 1, element / (length / world));
        while (element < start(chunk)) {
            chunk--;
        }
        return chunk;
    }
}
