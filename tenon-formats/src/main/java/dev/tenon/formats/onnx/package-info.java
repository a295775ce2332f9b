/**
 * Reads ONNX models: {@link dev.tenon.formats.onnx.OnnxModel} is all that there is to use.
 *
 * <p>Owns the way from a file to a verified graph: scopes, branches, functions, the order of nodes. Does not own the
 * file format ({@code schema}), the elements of tensors ({@code tensor}) or what operators mean ({@code mapping}).
 *
 * <p>The file is mapped and its messages are read where they lie, so weights stay in the mapping. An initializer that
 * is an input too is a default: a constant, unless a run gives a value, for which the model is imported again with that
 * input. Branches get the values that they capture as explicit inputs. Every length is checked before an allocation,
 * external data cannot leave the model's folder, and each fault is one {@code ImportException}.
 */
@NullMarked
package dev.tenon.formats.onnx;

import org.jspecify.annotations.NullMarked;
