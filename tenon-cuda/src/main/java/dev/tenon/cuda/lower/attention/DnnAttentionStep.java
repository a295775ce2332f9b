package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.dnn.DnnAnswer;
import dev.tenon.cuda.dnn.DnnAttention;
import dev.tenon.cuda.dnn.DnnPlan;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.attention.AttentionProblem.Formula;
import dev.tenon.cuda.lower.attention.AttentionProblem.Mask;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.lower.step.GpuFrame;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Attention by cuDNN. After a causal one our kernel looks for rows that values of unseen keys made NaN.
 *
 * @param repair null where queries see all keys
 */
record DnnAttentionStep(String tier, DnnPlan plan, @Nullable PreparedLaunch repair, Operands at) implements GpuStep {
    private static final String NAME = "cudnn: ";
    private static final int LEAST_QUERIES = 65;
    private static final int LEAST_KEYS_OF_ONE = 512; // a single query is read for as fast as memory goes
    private static final int LEAST_SIZE = 33;
    private static final int MOST_SIZE = 256;
    private static final int MOST_PARTS = 8; // of a head's rows, each a block that looks at them
    private static final int THREADS = 128;

    /**
     * The step.
     *
     * @param faster why a kernel of ours comes first; empty where none does
     * @param passed takes the reason why cuDNN does not run it
     * @return null where cuDNN does not take the attention
     */
    static @Nullable GpuStep step(
            AttentionProblem problem, Operands at, GpuLoweringContext context, String faster, List<String> passed) {
        String refusal = refusal(problem);
        if (refusal.isEmpty()) {
            refusal = faster;
        }
        if (refusal.isEmpty()) {
            refusal = context.dnn().unavailable();
        }
        if (refusal.isEmpty()) {
            switch (context.prepare(asked(problem))) {
                case DnnPlan plan -> {
                    PreparedLaunch repair = problem.causal() ? repair(problem, at, context) : null;
                    String then = repair == null ? "" : ", then attention_repair";
                    return new DnnAttentionStep(NAME + problem.dtype() + then, plan, repair, at);
                }
                case DnnAnswer.Refusal none -> refusal = none.reason();
                case DnnAnswer.Slower slower -> refusal = slower.reason();
            }
        }
        passed.add(NAME + refusal);
        return null;
    }

    private static String refusal(AttentionProblem problem) {
        if (problem.dtype() != DType.F16 && problem.dtype() != DType.BF16) {
            return "it takes f16 and bf16, not " + problem.dtype();
        }
        if (problem.mask() != Mask.NONE || problem.window() > 0 || problem.cap() > 0) {
            return "there is a mask, a window or a cap";
        }
        if (problem.formula() == Formula.GUARDED) {
            return "weights that are NaN count as 0";
        }
        if (problem.keys() == 0) {
            return "there are no keys";
        }
        if (problem.causal() && problem.queries() != problem.keys()) {
            return "queries do not begin with the keys";
        }
        boolean single = problem.queries() == 1 && problem.keys() >= LEAST_KEYS_OF_ONE;
        if ((problem.queries() < LEAST_QUERIES && !single) || problem.size() < LEAST_SIZE) {
            return problem.queries() + " queries and heads of " + problem.size()
                    + " elements; our kernels are faster below " + LEAST_QUERIES + " and " + LEAST_SIZE;
        }
        if (problem.largestSize() > MOST_SIZE) {
            return "heads of " + problem.size() + " and " + problem.sizeV() + " elements; it takes at most "
                    + MOST_SIZE;
        }
        if (problem.causal() && problem.heads() > GridLimits.YZ) {
            return problem.heads() + " heads are more than " + GridLimits.YZ;
        }
        return problem.isPacked() ? "" : "heads do not start on 16-byte boundaries";
    }

    private static DnnAttention asked(AttentionProblem problem) {
        return new DnnAttention(
                problem.dtype(),
                List.of(problem.batches(), problem.heads(), problem.queries(), (long) problem.size()),
                List.of(problem.batches(), problem.keyHeads(), problem.keys(), (long) problem.size()),
                List.of(problem.batches(), problem.keyHeads(), problem.keys(), (long) problem.sizeV()),
                strides(problem.q()),
                strides(problem.k()),
                strides(problem.v()),
                strides(problem.y()),
                problem.causal(),
                (float) problem.scale());
    }

    private static List<Long> strides(Strides of) {
        return List.of(of.batch(), of.head(), of.token(), 1L);
    }

    private static PreparedLaunch repair(AttentionProblem problem, Operands at, GpuLoweringContext context) {
        Kernel kernel = context.kernels()
                .kernel(AttentionCatalog.ATTENTION_REPAIR, "attention_repair", KernelVariant.of(problem.dtype()));
        int batches = (int) Math.min(problem.batches(), GridLimits.YZ);
        // most find nothing: more blocks than run at the same time would only take longer to start
        long heads = SizeMath.product("attention", problem.heads(), problem.batches());
        int multiprocessors = context.kernels().context().device().multiprocessors();
        int parts = Math.clamp(multiprocessors / heads, 1, MOST_PARTS);
        LaunchShape shape =
                LaunchShape.of(parts, (int) problem.heads(), batches, THREADS).withProgrammatic();
        return problem.launch(kernel, shape, at).build();
    }

    @Override
    public void enqueue(GpuFrame frame) {
        plan.enqueueAttention(
                frame.stream(),
                frame.at(at.q()),
                frame.at(at.k()) + at.kStart(),
                frame.at(at.v()) + at.vStart(),
                frame.at(at.y()),
                frame.workspace());
        if (repair != null) {
            repair.enqueue(frame);
        }
    }

    @Override
    public long workspaceBytes() {
        return plan.workspaceBytes();
    }
}
