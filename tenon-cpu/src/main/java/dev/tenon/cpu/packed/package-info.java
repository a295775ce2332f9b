/**
 * Products with weights packed in blocks: rows are unpacked as they are read.
 */
@NullMarked
package dev.tenon.cpu.packed;

import org.jspecify.annotations.NullMarked;
