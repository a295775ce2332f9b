/**
 * Tensors of ONNX files as constants: element types, the places where elements lie, files beside the model.
 *
 * <p>Owns the checks that a tensor's bytes are there and are as many as its dims ask for. Does not own names or graphs.
 */
@NullMarked
package dev.tenon.formats.onnx.tensor;

import org.jspecify.annotations.NullMarked;
