/** Steps of convolutions. {@code ConvGeometry} has the sizes; the plain form takes every convolution. */
@NullMarked
package dev.tenon.cuda.lower.convolution;

import org.jspecify.annotations.NullMarked;
