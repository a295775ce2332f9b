package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.AttentionCatalog.DecodeForm;
import dev.tenon.cuda.kernel.AttentionCatalog.MmaForm;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/** Which kernel takes an attention of sequences of their own lengths, and its step. Used by one thread. */
final class RaggedTiers {
    private static final String NAME = "attention";
    private static final int FEW_QUERIES = 16;
    private static final int LEAST_KEYS_OF_SPLIT = 64;
    private static final int SCALAR_QUERIES = 16;
    private static final int SCALAR_THREADS = 128;
    private static final int STATIC_SHARED = 24 << 10; // at least what the kernel by threads declares, of f64

    private final RaggedProblem problem;
    private final GpuLoweringContext context;
    private final DeviceProperties device;
    private final AttentionHeads heads;
    private final List<String> passedOver = new ArrayList<>();

    /** For a problem that has a result. */
    RaggedTiers(RaggedProblem problem, GpuLoweringContext context) {
        this.problem = problem;
        this.context = context;
        this.device = context.kernels().context().device();
        this.heads = new AttentionHeads(problem.dtype(), problem.size(), problem.sizeV(), context.precision(), device);
    }

    Lowered lower() {
        passedOver.add("cudnn: sequences have lengths of their own");
        if (taken("attention_decode_ragged", decodeRefusal())) {
            return decode();
        }
        if (taken("attention_mma_ragged", heads.mmaRefusal(problem.heads(), this::blocks))) {
            return mma();
        }
        long shared = heads.scalarShared(SCALAR_QUERIES);
        int most = device.sharedBytesPerBlockOptIn() - STATIC_SHARED;
        if (problem.heads() > GridLimits.YZ || shared > most) {
            return new NoKernel("attention: " + problem.heads() + " heads of " + problem.size() + " and "
                    + problem.sizeV() + " elements take " + shared + " bytes of shared memory; kernels take "
                    + GridLimits.YZ + " heads, a block has " + most + " bytes");
        }
        return scalar();
    }

    private boolean taken(String tier, String refusal) {
        if (!refusal.isEmpty()) {
            passedOver.add(tier + ": " + refusal);
        }
        return refusal.isEmpty();
    }

    private String decodeRefusal() {
        if (problem.longest() > FEW_QUERIES) {
            return "sequences have up to " + problem.longest() + " queries; it takes at most " + FEW_QUERIES;
        }
        String refusal = heads.tensorCoreRefusal();
        if (!refusal.isEmpty()) {
            return refusal;
        }
        if (decodeTiles() > GridLimits.YZ) {
            return decodeTiles() + " tiles of rows are more than " + GridLimits.YZ;
        }
        return heads.sharedRefusal(heads.decodeForm().sharedBytes());
    }

    private long decodeTiles() {
        long rows = SizeMath.product(NAME, problem.group(), problem.longest());
        return SizeMath.product(NAME, problem.groups(), Math.ceilDiv(rows, DecodeForm.ROWS));
    }

    private int planes() {
        return Math.clamp(problem.sequences(), 1, GridLimits.YZ);
    }

    private Lowered decode() {
        DecodeForm form = heads.decodeForm();
        long tiles = decodeTiles();
        long all = SizeMath.product(NAME, tiles, Math.max(1, problem.sequences()));
        // one block a multiprocessor, as for sequences of one length
        long most =
                Math.min(Math.max(1, Math.ceilDiv(problem.keysOfOne(), LEAST_KEYS_OF_SPLIT)), DecodeForm.MOST_SPLITS);
        int splits = (int) Math.clamp(device.multiprocessors() / all, 1, most);
        Kernel kernel = context.kernels()
                .kernel(
                        AttentionCatalog.ATTENTION_DECODE_RAGGED,
                        "attention_decode_ragged",
                        form.variant(),
                        form.sharedBytes());
        LaunchShape shape = LaunchShape.of(splits, (int) tiles, planes(), form.threads())
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch launch = problem.launch(kernel, shape, DType.F32, context)
                .add(problem.isPacked())
                .workspace(0)
                .counters()
                .build();
        boolean split = splits > 1;
        return step(
                "attention_decode_ragged, " + heads.type() + (split ? ", keys in " + splits + " shares" : ""),
                launch,
                split ? SizeMath.product(NAME, all, splits, form.partBytes()) : 0,
                split ? SizeMath.product(NAME, all, Integer.BYTES) : 0);
    }

    private long blocks(MmaForm form) {
        return SizeMath.product(NAME, problem.heads(), Math.ceilDiv(problem.tokens(), form.queries()));
    }

    private Lowered mma() {
        MmaForm form = heads.mmaForm(this::blocks).orElseThrow();
        Kernel kernel = context.kernels()
                .kernel(
                        AttentionCatalog.ATTENTION_MMA_RAGGED,
                        "attention_mma_ragged",
                        form.variant(),
                        form.sharedBytes());
        LaunchShape shape = shape(form.queries(), form.threads())
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch launch = problem.launch(kernel, shape, DType.F32, context)
                .add(problem.isPacked())
                .build();
        return step("attention_mma_ragged, " + heads.type() + ", " + form, launch, 0, 0);
    }

    private LaunchShape shape(int queries, int threads) {
        int tiles = SizeMath.toInt(NAME, Math.ceilDiv(problem.longest(), queries));
        return LaunchShape.of(tiles, problem.heads(), planes(), threads);
    }

    private Lowered scalar() {
        int shared = SizeMath.toInt(NAME, heads.scalarShared(SCALAR_QUERIES));
        Kernel kernel = context.kernels()
                .kernel(
                        AttentionCatalog.ATTENTION_RAGGED,
                        "attention_ragged",
                        KernelVariant.of(problem.dtype()),
                        shared);
        LaunchShape shape = shape(SCALAR_QUERIES, SCALAR_THREADS).withSharedBytes(shared);
        return step(
                "attention_ragged, " + problem.dtype(),
                problem.launch(kernel, shape, problem.dtype(), context).build(),
                0,
                0);
    }

    private LaunchStep step(String tier, PreparedLaunch launch, long workspaceBytes, long counterBytes) {
        return new LaunchStep(
                tier, List.of(launch), workspaceBytes, counterBytes, problem.op()::fault, List.copyOf(passedOver));
    }
}
