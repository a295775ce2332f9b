/**
 * Steps of convolutions. {@code ConvGeometry} has the sizes. The ladder: 1 fused, cuDNN with the epilogue in its call;
 * 2 cudnn, followed by a kernel for the epilogue; 3 implicit gemm, our product on tensor cores ({@code MmaConv}, cut by
 * {@code ConvTiles}, one launch per {@code ConvPhase}); 4 direct, a kernel for single channels or the plain one, which
 * takes every convolution.
 */
@NullMarked
package dev.tenon.cuda.lower.convolution;

import org.jspecify.annotations.NullMarked;
