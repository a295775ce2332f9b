/**
 * Building graphs in words: what people write by hand, as methods.
 *
 * <p>Owns names, argument order and defaults. Does not own any rule: operations ({@code ir.op}) check themselves.
 */
@NullMarked
package dev.tenon.core.build;

import org.jspecify.annotations.NullMarked;
