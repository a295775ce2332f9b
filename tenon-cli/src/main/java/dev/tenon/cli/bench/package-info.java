/**
 * {@code bench}: times of models, row kernels and all-reduces, in this process.
 */
@NullMarked
package dev.tenon.cli.bench;

import org.jspecify.annotations.NullMarked;
