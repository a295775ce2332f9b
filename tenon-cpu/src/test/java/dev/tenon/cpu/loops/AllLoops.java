package dev.tenon.cpu.loops;

import java.util.ArrayList;
import java.util.List;

/** Every form of the loops that runs here. */
public final class AllLoops {
    private AllLoops() {}

    /** Plain ones, those in vectors, and those that run by default, with machine code where it can. */
    public static List<Loops> list() {
        List<Loops> all = new ArrayList<>();
        all.add(new Loops());
        if (Vectors.available()) {
            all.add(new VectorLoops());
        }
        all.add(Loops.current());
        return all;
    }
}
