package dev.tenon.nativelib.emulated;

import java.util.List;

/**
 * How large a launch is.
 *
 * @param grid blocks along x, y, z
 * @param block threads along x, y, z
 * @param sharedBytes dynamic shared memory of a block
 * @param cooperative whether all blocks run at once
 * @param cluster blocks of a cluster; 1 for none
 */
public record LaunchSize(List<Integer> grid, List<Integer> block, int sharedBytes, boolean cooperative, int cluster) {
    public LaunchSize {
        grid = List.copyOf(grid);
        block = List.copyOf(block);
    }
}
