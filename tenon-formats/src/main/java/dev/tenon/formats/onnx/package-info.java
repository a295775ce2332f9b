/**
 * Reads ONNX models: {@link dev.tenon.formats.onnx.OnnxModel} is all that there is to use.
 *
 * <p>Owns the way from a file to a verified graph: scopes, branches, functions, the order of nodes. Does not own the file format ({@code schema}), the elements of tensors ({@code tensor}) or what operators mean ({@code mapping}).
 */
@NullMarked
package dev.tenon.formats.onnx;

import org.jspecify.annotations.NullMarked;
