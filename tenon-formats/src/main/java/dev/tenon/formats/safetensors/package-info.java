/**
 * safetensors files: named tensors behind a JSON header.
 *
 * <p>Owns the format and its checks. Does not own what the tensors mean.
 */
@NullMarked
package dev.tenon.formats.safetensors;

import org.jspecify.annotations.NullMarked;
