/**
 * What each ONNX operator means in the IR, by operator set version: {@link dev.tenon.formats.onnx.mapping.OnnxOps}
 * lists the operators, and a class for each family maps them.
 *
 * <p>Owns the differences between operator sets: attributes that became inputs, defaults that changed, shapes that were
 * flattened. Does not own files, names or scopes.
 */
@NullMarked
package dev.tenon.formats.onnx.mapping;

import org.jspecify.annotations.NullMarked;
