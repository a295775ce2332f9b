/**
 * Searches whose results are as large as what they find: elements that are not zero, different slices, selected boxes.
 */
@NullMarked
package dev.tenon.cpu.search;

import org.jspecify.annotations.NullMarked;
