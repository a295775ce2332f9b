package dev.tenon.cuda.testkit;

import dev.tenon.cuda.tuning.Rival;
import dev.tenon.cuda.tuning.Tunable;

/** A rival in tests where nothing may be timed. */
public final class UntimedRival implements Rival {
    @Override
    public boolean rehearse() {
        return false;
    }

    @Override
    public long trialBytes() {
        return 0;
    }

    @Override
    public Tunable.Trial trial() {
        throw new IllegalStateException("nothing is timed");
    }
}
