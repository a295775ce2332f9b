/**
 * Pictures from files to tensors: {@code Picture} decodes, {@code Resampling} makes another size, {@code ImageInput}
 * says what a model expects. Knows nothing of models and devices.
 */
@NullMarked
package dev.tenon.image;

import org.jspecify.annotations.NullMarked;
