/** What a compiler plans for a graph, and a plan in words. */
@NullMarked
package dev.tenon.core.testkit.plan;

import org.jspecify.annotations.NullMarked;
