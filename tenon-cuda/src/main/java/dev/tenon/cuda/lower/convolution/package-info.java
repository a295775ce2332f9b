/**
 * Steps of convolutions. {@code ConvGeometry} has the sizes. The ladder: 1 fused, cuDNN with the epilogue in its call;
 * 2 cudnn, followed by a kernel for the epilogue; 3 implicit gemm, our product on tensor cores ({@code MmaConv}, cut by
 * {@code ConvTiles}, one launch per {@code ConvPhase}; by warpgroups {@code WarpgroupConv}); 4 direct, a kernel for
 * single channels, for few of them ({@code FewChannelsConv}, on tensor cores or not) or the plain one, which takes
 * every convolution. Models of time choose between tier 3 and the two for few channels.
 */
@NullMarked
package dev.tenon.cuda.lower.convolution;

import org.jspecify.annotations.NullMarked;
