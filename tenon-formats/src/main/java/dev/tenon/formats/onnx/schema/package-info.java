/**
 * The ONNX file format: one record a message, read straight from a mapped file.
 *
 * <p>Owns the field numbers, the bounds on every length and the depth of nesting. Does not own what a model means: the
 * importer does. The reader is our own because the protobuf runtime, since it gave up {@code Unsafe}, copies a mapped
 * file to the heap before it parses it, and costs more at start-up than all the rest of an import.
 */
@NullMarked
package dev.tenon.formats.onnx.schema;

import org.jspecify.annotations.NullMarked;
