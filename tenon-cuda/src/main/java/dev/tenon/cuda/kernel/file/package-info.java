/**
 * What the compilers get: the text of a {@code .cu} file with the headers that it includes, its entries with their
 * parameters, and the variants that it compiles in.
 *
 * <p>Owns the {@code .cu} sources; does not own which files there are, which the catalogs above know, nor launches.
 */
@NullMarked
package dev.tenon.cuda.kernel.file;

import org.jspecify.annotations.NullMarked;
