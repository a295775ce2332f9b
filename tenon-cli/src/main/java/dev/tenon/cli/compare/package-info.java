/** A model on a device against its definition in float64, node by node. */
@NullMarked
package dev.tenon.cli.compare;

import org.jspecify.annotations.NullMarked;
