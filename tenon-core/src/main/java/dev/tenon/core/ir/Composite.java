package dev.tenon.core.ir;

import java.util.List;

/**
 * An operation written in terms of others: a record, and nothing else to say about it anywhere. Devices run what it
 * decomposes into; one that a device may run in one piece is a {@link Claimable}.
 *
 * <p>The text form ({@link GraphText}) finds composites by their names in the packages of the operations of this
 * module; those of other packages are printed, not read.
 */
public non-sealed interface Composite extends Op {
    /**
     * Adds the operations that this one stands for; the inputs are concrete. The results have the types that the rules
     * gave.
     */
    List<Value> decompose(OpBuilder g, List<Value> inputs);
}
