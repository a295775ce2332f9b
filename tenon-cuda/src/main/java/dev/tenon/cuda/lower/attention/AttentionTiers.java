package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.AttentionCatalog.DecodeForm;
import dev.tenon.cuda.kernel.AttentionCatalog.MmaForm;
import dev.tenon.cuda.kernel.AttentionCatalog.ShortForm;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.GridLimits;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** Our kernels for attention: which of them takes a problem, and its step. Used by one thread. */
final class AttentionTiers {
    private static final String NAME = "attention";
    private static final int FEW_QUERIES = 16;
    private static final int MANY_KEYS = 128;
    private static final int LEAST_KEYS_OF_SPLIT = 64;
    private static final int SCALAR_QUERIES = 16;
    private static final int SCALAR_THREADS = 128;
    private static final int STATIC_SHARED = 24 << 10; // at least what the scalar kernel declares, of f64

    private final AttentionProblem problem;
    private final Operands operands;
    private final Kernels kernels;
    private final DeviceProperties device;
    private final AttentionHeads heads;
    private final WarpgroupAttention warpgroups;
    private final List<String> passedOver;

    /**
     * For a problem that has a result.
     *
     * @param passedOver takes the reasons why tiers were not taken
     */
    AttentionTiers(AttentionProblem problem, Operands operands, GpuLoweringContext context, List<String> passedOver) {
        this.problem = problem;
        this.operands = operands;
        this.kernels = context.kernels();
        this.device = kernels.context().device();
        this.heads = new AttentionHeads(problem.dtype(), problem.size(), problem.sizeV(), context.precision(), device);
        this.warpgroups = new WarpgroupAttention(problem, heads, operands, kernels);
        this.passedOver = passedOver;
    }

    /** Why a kernel of ours comes before cuDNN; empty where cuDNN comes first. */
    String beforeLibrary() {
        return warpgroups.shortRefusal().isEmpty()
                ? "attention_short_wgmma is faster"
                : warpgroups.isFasterThanLibrary() ? "attention_wgmma is faster where it is causal" : "";
    }

    /** The step of the first kernel that takes the problem. */
    Lowered lower() {
        if (taken("attention_decode", decodeRefusal())) {
            return decode();
        }
        if (taken("attention_short_wgmma", warpgroups.shortRefusal())) {
            return step(warpgroups.shortText(), warpgroups.shortLaunch(), 0, 0);
        }
        if (taken("attention_short", shortRefusal())) {
            return shortForm();
        }
        if (taken("attention_wgmma", warpgroups.refusal())) {
            return step(
                    "attention_wgmma, " + heads.type() + ", heads of " + warpgroups.padded(),
                    warpgroups.launch(),
                    0,
                    0);
        }
        if (taken("attention_mma", heads.mmaRefusal(problem.heads(), this::blocks))) {
            return mma();
        }
        String refusal = scalarRefusal();
        return refusal.isEmpty() ? scalar() : new NoKernel(refusal);
    }

    private boolean taken(String tier, String refusal) {
        if (!refusal.isEmpty()) {
            passedOver.add(tier + ": " + refusal);
        }
        return refusal.isEmpty();
    }

    private int batches() {
        return (int) Math.min(problem.batches(), GridLimits.YZ);
    }

    private String decodeRefusal() {
        if (problem.queries() > FEW_QUERIES || problem.keys() < MANY_KEYS) {
            return problem.queries() + " queries and " + problem.keys() + " keys; it takes at most " + FEW_QUERIES
                    + " and at least " + MANY_KEYS;
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
        long rows = SizeMath.product(NAME, problem.group(), problem.queries());
        return SizeMath.product(NAME, problem.keyHeads(), Math.ceilDiv(rows, DecodeForm.ROWS));
    }

    /** One block a multiprocessor: more would read no faster, and leave more to put together. */
    private int splits(long tiles) {
        long wanted = device.multiprocessors() / Math.max(1, tiles);
        long most = Math.min(Math.ceilDiv(problem.keys(), LEAST_KEYS_OF_SPLIT), DecodeForm.MOST_SPLITS);
        return (int) Math.clamp(wanted, 1, most);
    }

    private Lowered decode() {
        DecodeForm form = heads.decodeForm();
        long tiles = decodeTiles();
        long all = SizeMath.product(NAME, tiles, problem.batches());
        int splits = splits(all);
        Kernel kernel = kernels.kernel(
                AttentionCatalog.ATTENTION_DECODE, "attention_decode", form.variant(), form.sharedBytes());
        LaunchShape shape = LaunchShape.of(splits, (int) tiles, batches(), form.threads())
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch launch = problem.launch(kernel, shape, operands)
                .add(problem.isPacked())
                .workspace(0)
                .counters()
                .build();
        boolean split = splits > 1;
        return step(
                "attention_decode, " + heads.type() + (split ? ", keys in " + splits + " shares" : ""),
                launch,
                split ? SizeMath.product(NAME, all, splits, form.partBytes()) : 0,
                split ? SizeMath.product(NAME, all, Integer.BYTES) : 0);
    }

    private String shortRefusal() {
        String refusal = heads.tensorCoreRefusal();
        if (!refusal.isEmpty()) {
            return refusal;
        }
        if (problem.keys() > ShortForm.MOST_KEYS) {
            return problem.keys() + " keys; it takes at most " + ShortForm.MOST_KEYS;
        }
        int padded = AttentionCatalog.paddedForShort(problem.largestSize());
        if (padded == 0) {
            return "heads of " + problem.size() + " and " + problem.sizeV() + " elements; it takes at most 64";
        }
        String rules = problem.refusalWhole();
        if (!rules.isEmpty()) {
            return rules;
        }
        if (problem.heads() > GridLimits.YZ) {
            return problem.heads() + " heads are more than " + GridLimits.YZ;
        }
        int shared =
                new ShortForm(problem.dtype(), padded, 4, false).sharedBytes(problem.queries(), (int) problem.keys());
        return heads.sharedRefusal(shared);
    }

    private Lowered shortForm() {
        long blocks = SizeMath.product(
                NAME, problem.batches(), problem.heads(), Math.ceilDiv(problem.queries(), (long) ShortForm.QUERIES));
        ShortForm form = new ShortForm(
                problem.dtype(),
                AttentionCatalog.paddedForShort(problem.largestSize()),
                blocks < device.multiprocessors() ? 8 : 4,
                problem.maskStrides().query() != 0);
        int most =
                Math.min(form.sharedBytes(ShortForm.QUERIES, ShortForm.MOST_KEYS), device.sharedBytesPerBlockOptIn());
        Kernel kernel = kernels.kernel(AttentionCatalog.ATTENTION_SHORT, "attention_short", form.variant(), most);
        LaunchShape shape = shape(ShortForm.QUERIES, form.threads())
                .withSharedBytes(form.sharedBytes(problem.queries(), (int) problem.keys()))
                .withProgrammatic();
        return step(
                "attention_short, " + heads.type() + ", heads of " + form.size()
                        + (form.each() ? ", a mask each query" : ""),
                problem.launch(kernel, shape, operands).build(),
                0,
                0);
    }

    /** Blocks of a form; causal ones as far as they fill the device. */
    private long blocks(MmaForm form) {
        long all = SizeMath.product(
                NAME, problem.batches(), problem.heads(), Math.ceilDiv(problem.queries(), form.queries()));
        return problem.causal() ? all / form.causalBlocks() : all;
    }

    private Lowered mma() {
        MmaForm form = heads.mmaForm(this::blocks).orElseThrow();
        Kernel kernel =
                kernels.kernel(AttentionCatalog.ATTENTION_MMA, "attention_mma", form.variant(), form.sharedBytes());
        LaunchShape shape = shape(form.queries(), form.threads())
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch launch =
                problem.launch(kernel, shape, operands).add(problem.isPacked()).build();
        return step("attention_mma, " + heads.type() + ", " + form, launch, 0, 0);
    }

    private LaunchShape shape(int queries, int threads) {
        int tiles = SizeMath.toInt(NAME, Math.ceilDiv(problem.queries(), queries));
        return LaunchShape.of(tiles, (int) problem.heads(), batches(), threads);
    }

    private String scalarRefusal() {
        if (problem.heads() > GridLimits.YZ) {
            return "attention: " + problem.heads() + " heads are more than " + GridLimits.YZ;
        }
        long shared = heads.scalarShared(SCALAR_QUERIES);
        int most = device.sharedBytesPerBlockOptIn() - STATIC_SHARED;
        return shared > most
                ? "attention: heads of " + problem.size() + " and " + problem.sizeV() + " elements take " + shared
                        + " bytes of shared memory; a block has " + most + " left"
                : "";
    }

    private Lowered scalar() {
        int shared = SizeMath.toInt(NAME, heads.scalarShared(SCALAR_QUERIES));
        Kernel kernel =
                kernels.kernel(AttentionCatalog.ATTENTION, "attention", KernelVariant.of(problem.dtype()), shared);
        LaunchShape shape = shape(SCALAR_QUERIES, SCALAR_THREADS).withSharedBytes(shared);
        return step(
                "attention, " + problem.dtype(),
                problem.launch(kernel, shape, operands).build(),
                0,
                0);
    }

    private LaunchStep step(String tier, PreparedLaunch launch, long workspaceBytes, long counterBytes) {
        return new LaunchStep(
                tier, List.of(launch), workspaceBytes, counterBytes, GpuStep::noResult, List.copyOf(passedOver));
    }
}
