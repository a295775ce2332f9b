/**
 * Random numbers and samples, from counters.
 */
@NullMarked
package dev.tenon.cpu.random;

import org.jspecify.annotations.NullMarked;
