package dev.tenon.core.ir.op;

import dev.tenon.core.ir.Op;
import dev.tenon.core.ir.Ops;
import dev.tenon.core.ir.Value;
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
    List<Value> decompose(Ops g, List<Value> inputs);
}
