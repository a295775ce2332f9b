/**
 * Resampling of images, and images as columns.
 */
@NullMarked
package dev.tenon.core.ir.op.image;

import org.jspecify.annotations.NullMarked;
