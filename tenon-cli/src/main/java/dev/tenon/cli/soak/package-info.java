/**
 * {@code soak}: a model run for minutes by many threads, and whether memory stays flat.
 */
@NullMarked
package dev.tenon.cli.soak;

import org.jspecify.annotations.NullMarked;
