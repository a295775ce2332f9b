package dev.tenon.core.ir;

import dev.tenon.core.ir.op.attention.GatedUnit;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.attention.ProjectedAttention;
import dev.tenon.core.ir.op.attention.PrologueMatMul;
import dev.tenon.core.ir.op.convolution.ChannelsLastConv;
import dev.tenon.core.ir.op.convolution.ChannelsLastNorm;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.core.ir.op.normalisation.NormedMatMul;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.normalisation.RowRegion;

/**
 * A composite that a device may run whole instead of what it decomposes into. A device's claims and lowering are
 * switches over these without a default, so the compiler names every place that a new one must be handled.
 */
public sealed interface Claimable extends Composite
        permits PlainAttention,
                ProjectedAttention,
                ResidualNorm,
                NormedMatMul,
                PrologueMatMul,
                EmbeddingNorm,
                RowRegion,
                GatedUnit,
                ChannelsLastConv,
                ChannelsLastNorm {}
