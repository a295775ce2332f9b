package dev.tenon.cuda.dnn;

import dev.tenon.core.ir.DType;
import java.util.ArrayList;
import java.util.List;

/**
 * softmax(scale q kᵀ) v as cuDNN is asked about it. Sizes and strides have the order batch, head, token, element,
 * however the elements lie; those of a head are neighbours.
 *
 * @param dtype f16 or bf16, of all operands; sums are in f32
 * @param q sizes of the queries
 * @param k sizes of the keys; each of their heads serves as many of the queries'
 * @param v sizes of the values
 * @param qStrides elements from one index to the next
 * @param kStrides likewise
 * @param vStrides likewise
 * @param yStrides likewise
 * @param causal whether a query sees no key after the one of its own number
 * @param scale of the scores
 */
public record DnnAttention(
        DType dtype,
        List<Long> q,
        List<Long> k,
        List<Long> v,
        List<Long> qStrides,
        List<Long> kStrides,
        List<Long> vStrides,
        List<Long> yStrides,
        boolean causal,
        float scale)
        implements DnnOperation {
    public DnnAttention {
        q = List.copyOf(q);
        k = List.copyOf(k);
        v = List.copyOf(v);
        qStrides = List.copyOf(qStrides);
        kStrides = List.copyOf(kStrides);
        vStrides = List.copyOf(vStrides);
        yStrides = List.copyOf(yStrides);
    }

    @Override
    public List<Long> operands() {
        List<Long> all = new ArrayList<>(List.of(
                DnnAttentionGraph.Q,
                DnnAttentionGraph.K,
                DnnAttentionGraph.V,
                DnnAttentionGraph.Y,
                DnnAttentionGraph.SCALE));
        if (causal) {
            all.add(DnnAttentionGraph.LEAST);
        }
        return all;
    }

    @Override
    public List<Float> scalars() {
        return causal ? List.of(scale, -Float.MAX_VALUE) : List.of(scale);
    }
}
