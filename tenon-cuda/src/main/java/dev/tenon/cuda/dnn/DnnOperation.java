package dev.tenon.cuda.dnn;

import java.util.List;

/** What cuDNN is asked about. Immutable. */
public sealed interface DnnOperation permits DnnProblem, DnnAttention {
    /** Numbers of the operands in the order of a call, scalars last. */
    List<Long> operands();

    /** Values of the operands that are scalars in host memory, the same in each call. */
    List<Float> scalars();
}
