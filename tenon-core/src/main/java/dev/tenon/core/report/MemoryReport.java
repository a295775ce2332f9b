package dev.tenon.core.report;

/**
 * Bytes that Tenon holds on a device now.
 *
 * @param weights prepared constants of all models; what is used where it lies in a mapped file counts nothing
 * @param activations arenas of all sessions
 * @param workspace what steps of all sessions work in beside values
 * @param host memory of the host that steps take which a GPU leaves to the CPU backend; not on the device, so neither
 *     in the total nor within the cap
 * @param limit the cap that was set, Long.MAX_VALUE for none
 */
public record MemoryReport(long weights, long activations, long workspace, long host, long limit) {
    public long total() {
        return weights + activations + workspace;
    }
}
