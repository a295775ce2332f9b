/** Steps of searches: they fill results as large as what can be found, and say how much was. */
@NullMarked
package dev.tenon.cuda.lower.searching;

import org.jspecify.annotations.NullMarked;
