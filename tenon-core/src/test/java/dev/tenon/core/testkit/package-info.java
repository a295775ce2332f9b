/**
 * What every backend is tested with: cases for each operation, their float64 results, tolerances, seeded random
 * arrays, and faults injected at every point of a model's life.
 *
 * <p>Shipped as the test-jar. Owns what is tried; does not own how a backend runs it.
 */
@NullMarked
package dev.tenon.core.testkit;

import org.jspecify.annotations.NullMarked;
