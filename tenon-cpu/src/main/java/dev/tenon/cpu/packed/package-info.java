/**
 * Products with weights packed in blocks or in integers with scales: rows are unpacked as they are read.
 */
@NullMarked
package dev.tenon.cpu.packed;

import org.jspecify.annotations.NullMarked;
