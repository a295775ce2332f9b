/**
 * {@code kernels}: what there are, whether they compile, whether they are right.
 */
@NullMarked
package dev.tenon.cli.kernels;

import org.jspecify.annotations.NullMarked;
