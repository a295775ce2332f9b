package dev.tenon.cuda.kernel;

import dev.tenon.core.ir.op.elementwise.Region;
import java.util.Arrays;
import java.util.List;

/** Who reads the values of a region. */
public final class RegionUses {
    private RegionUses() {}

    /**
     * For each input and after them each step: the last step that reads it, the number of steps for a result, -1 for
     * what no result needs.
     */
    public static int[] last(List<Region.Step> steps, List<Integer> results, int inputs) {
        int[] last = new int[inputs + steps.size()];
        Arrays.fill(last, -1);
        results.forEach(result -> last[inputs + result] = steps.size());
        for (int i = steps.size() - 1; i >= 0; i--) {
            if (last[inputs + i] >= 0) {
                for (int argument : steps.get(i).arguments()) {
                    last[argument] = Math.max(last[argument], i);
                }
            }
        }
        return last;
    }
}
