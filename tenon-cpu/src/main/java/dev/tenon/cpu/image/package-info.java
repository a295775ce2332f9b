/**
 * Resampling of images.
 */
@NullMarked
package dev.tenon.cpu.image;

import org.jspecify.annotations.NullMarked;
