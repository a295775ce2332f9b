/**
 * Steps of elementwise operations and of regions of them. Where nothing compiles generated sources, a region runs on
 * the interpreting kernel.
 */
@NullMarked
package dev.tenon.cuda.lower.elementwise;

import org.jspecify.annotations.NullMarked;
