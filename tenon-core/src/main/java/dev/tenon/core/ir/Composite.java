package dev.tenon.core.ir;

import dev.tenon.core.ir.op.attention.FusedAttentionBlock;
import dev.tenon.core.ir.op.attention.PlainAttention;
import dev.tenon.core.ir.op.contraction.Einsum;
import dev.tenon.core.ir.op.contraction.LoraMatMul;
import dev.tenon.core.ir.op.convolution.DeformConv;
import dev.tenon.core.ir.op.image.Col2Im;
import dev.tenon.core.ir.op.image.DepthToSpace;
import dev.tenon.core.ir.op.image.SpaceToDepth;
import dev.tenon.core.ir.op.movement.Reverse;
import dev.tenon.core.ir.op.movement.Roll;
import dev.tenon.core.ir.op.movement.Split;
import dev.tenon.core.ir.op.movement.Tile;
import dev.tenon.core.ir.op.normalisation.BatchNorm;
import dev.tenon.core.ir.op.normalisation.GroupNorm;
import dev.tenon.core.ir.op.normalisation.Hardmax;
import dev.tenon.core.ir.op.normalisation.LpNorm;
import dev.tenon.core.ir.op.normalisation.ResidualNorm;
import dev.tenon.core.ir.op.pooling.MaxUnpool;
import dev.tenon.core.ir.op.quantisation.FakeQuantize;
import dev.tenon.core.ir.op.random.Bernoulli;
import dev.tenon.core.ir.op.random.Multinomial;
import dev.tenon.core.ir.op.reduction.Sort;
import java.util.List;

/** An operation written in terms of others. */
public sealed interface Composite extends Op
        permits Einsum,
                BatchNorm,
                GroupNorm,
                LpNorm,
                Hardmax,
                Split,
                Tile,
                DepthToSpace,
                SpaceToDepth,
                DeformConv,
                Col2Im,
                MaxUnpool,
                Bernoulli,
                Multinomial,
                LoraMatMul,
                FakeQuantize,
                ResidualNorm,
                FusedAttentionBlock,
                PlainAttention,
                Sort,
                Roll,
                Reverse {
    /** Adds the operations that this one stands for; the inputs are concrete. The results have the types that the rules gave. */
    List<Value> decompose(OpBuilder g, List<Value> inputs);
}
