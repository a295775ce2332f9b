/**
 * {@code allreduce} and {@code launch}: ranks that work together, drawn and started.
 */
@NullMarked
package dev.tenon.cli.ranks;

import org.jspecify.annotations.NullMarked;
