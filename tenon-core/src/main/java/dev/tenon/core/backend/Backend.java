package dev.tenon.core.backend;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Op;
import dev.tenon.core.options.EngineOptions;
import dev.tenon.core.options.Precision;
import dev.tenon.core.report.DeviceInfo;
import java.util.List;
import java.util.OptionalDouble;

/**
 * A kind of device. Implementations have a public constructor without arguments, load nothing in it, and are
 * thread-safe.
 */
public interface Backend {
    /** The name that {@code Target} knows it by: {@code cpu}, {@code cuda}. */
    String name();

    /** Which of several available backends {@code Target.best()} takes: the highest. The CPU is 0. */
    int preference();

    /** The devices there are; empty where {@link #unavailable()} says why. Never throws. */
    List<DeviceInfo> devices();

    /** One line that says why there is no device, and what would help; empty where there is one. Never throws. */
    String unavailable();

    /**
     * Whether its devices run this node whole, rather than the pieces that stand for it: a {@link
     * dev.tenon.core.ir.Claimable} that would otherwise be decomposed, or a primitive (an attention) that a pass would
     * put in the place of smaller ones. Its types may have dims without numbers; then whether they do whatever the
     * numbers are. Asked without a device.
     */
    default boolean claims(Node whole) {
        return false;
    }

    /**
     * The same for a model of that precision.
     *
     * @see #claims(Node)
     */
    default boolean claims(Node whole, Precision precision) {
        return claims(whole);
    }

    /** Whether {@link #claims} is true of any node. */
    default boolean claimsAny() {
        return false;
    }

    /** Whether {@link #claims} may be true of a node of an operation of that kind. */
    default boolean mayClaim(Class<? extends Op> kind) {
        return claimsAny();
    }

    /**
     * Billions of operations a second that products were measured to reach on one of its devices; empty where nothing
     * was measured. Of several devices that were, {@code Target.best()} takes the fastest.
     */
    default OptionalDouble measured(DeviceInfo device) {
        return OptionalDouble.empty();
    }

    /** Opens a device. @throws dev.tenon.core.error.UnsupportedException when there is none of that number */
    Device open(int ordinal, EngineOptions options);
}
