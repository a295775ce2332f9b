package dev.tenon.core.build;

/**
 * Says how an attention looks at its keys. Immutable.
 *
 * @param causal whether a query sees no key after it; the last query sees all keys
 * @param window how many keys a query sees at most, itself included; 0 for all
 * @param scale the factor of the scores; NaN for 1/sqrt(head size)
 * @param softCap scores s become {@code softCap tanh(s / softCap)}; 0 for none
 */
public record AttentionOptions(boolean causal, long window, double scale, double softCap) {
    /** Returns all keys, scale 1/sqrt(head size), no cap. */
    public static AttentionOptions defaults() {
        return new AttentionOptions(false, 0, Double.NaN, 0);
    }

    public AttentionOptions withCausal(boolean on) {
        return new AttentionOptions(on, window, scale, softCap);
    }

    public AttentionOptions withWindow(long keys) {
        return new AttentionOptions(causal, keys, scale, softCap);
    }

    public AttentionOptions withScale(double factor) {
        return new AttentionOptions(causal, window, factor, softCap);
    }

    public AttentionOptions withSoftCap(double cap) {
        return new AttentionOptions(causal, window, scale, cap);
    }
}
