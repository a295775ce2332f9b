/**
 * From a graph to a plan: rewrites, fusions and the memory plan. {@link dev.tenon.core.compiler.Compiler} lists the
 * passes in order.
 *
 * <p>Owns everything that is the same for all backends. Does not own kernels, nor which of its tiers a backend takes.
 *
 * <p>{@code PartialEvaluator} computes what is known. Before shapes are bound, that is what depends on constants;
 * afterwards arithmetic on shapes, deferred operations and branches disappear too. The passes run on what remains:
 *
 * <ol>
 *   <li>{@code decompose}: composites that the backend does not claim
 *   <li>{@code canonicalise}: small rules, such as {@code x * 1 → x} and transposes into matrix products
 *   <li>{@code cse}; {@code spelled-forms}: GELU and LayerNorm written out by exporters; {@code spelled-attention},
 *      where the backend runs it whole; {@code narrow-masks}: masks that are the same for all queries; {@code
 *      fuse-scaled-products}: weights of 8 and 4 bits into products that never
 *      write them out; {@code half-precision}, where weights are kept in 16 bits
 *   <li>{@code fold-pads}: zeros around a value into the windows that slide over it
 *   <li>{@code fuse-epilogues}: bias, activation and residual into contractions; {@code merge-parallel-products}: the
 *      projections to q, k and v into one; {@code fuse-elementwise}: chains into one region; {@code
 *      fuse-embeddings}: rows of tables with their sum and its norm, and {@code fuse-residual-norms}: an addition with
 *      the norm behind it, {@code fuse-normed-products}: a product with the norm of its rows, {@code
 *      fuse-projected-attention}: the product that makes q, k and v with attention, {@code fuse-prologues}: a product
 *      with what makes its rows, where the backend runs that whole
 *   <li>{@code dce}; {@code output-copies}: each output gets memory of its own
 * </ol>
 *
 * <p>The verifier checks each result. A plan ends where a shape or branch depends on computed values: its outputs are
 * what the rest needs, and the rest is planned for the values of the run.
 */
@NullMarked
package dev.tenon.core.compiler;

import org.jspecify.annotations.NullMarked;
