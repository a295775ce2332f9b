package dev.tenon.core.build;

/**
 * Adds operations to a graph under construction, in words: what people write by hand. Each family of words is an
 * interface of its own.
 *
 * <p>Arguments stand in one order: operands, axis, sizes, options; what may be repeated comes last. The words that take
 * a function by name ({@code reduce(fn, x, …)}, {@code einsum(equation, …)}) have it first. Axes may be negative: they
 * then count from the back. Operations that have no word here are added by
 * {@link #add(dev.tenon.core.ir.Op, dev.tenon.core.ir.Value...)}.
 *
 * <p>Faults are found when a word is called: a {@link dev.tenon.core.error.TenonException} that names the operation
 * and, for null, the argument. Not thread-safe.
 */
public interface Ops
        extends ArithmeticOps,
                ActivationOps,
                LogicOps,
                ReductionOps,
                ShapeOps,
                IndexingOps,
                ContractionOps,
                ImageOps,
                NormalisationOps,
                SequenceOps {}
