/**
 * Recurrent layers: one walk over time, three kinds of cell, two ways to multiply.
 */
@NullMarked
package dev.tenon.cpu.recurrent;

import org.jspecify.annotations.NullMarked;
