/** Sorts that steps of other families are made of, and the steps that give the order of elements. */
@NullMarked
package dev.tenon.cuda.lower.sorting;

import org.jspecify.annotations.NullMarked;
