package dev.tenon.cuda.lower.attention;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.cuda.kernel.AttentionCatalog;
import dev.tenon.cuda.kernel.AttentionCatalog.ShortWarpgroupForm;
import dev.tenon.cuda.kernel.AttentionCatalog.WarpgroupForm;
import dev.tenon.cuda.kernel.Kernel;
import dev.tenon.cuda.kernel.Kernels;
import dev.tenon.cuda.lower.attention.AttentionProblem.Operands;
import dev.tenon.cuda.lower.attention.AttentionProblem.Strides;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.GpuContext;
import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.cuda.port.TensorMap;
import java.util.List;

/** The kernels of attention whose products are those of warpgroups: what they take, and their launches. */
final class WarpgroupAttention {
    private static final String NAME = "attention";
    private static final int CAPABILITY = 90;
    private static final int LINE = 128;
    private static final int LEAST_SIZE = 33; // smaller heads would be padded to twice their size and more
    private static final int LEAST_KEYS = 257; // of two tiles or less a block has nothing to overlap
    private static final int LEAST_SIZE_BEFORE_LIBRARY = 97; // 64 elements: 2677 us, cuDNN and its check 2416 (H200)
    private static final int LEAST_KEYS_BEFORE_LIBRARY = 512;

    /** Heads in TF32 for which one block a multiprocessor is too few, where it has more of them than so many. */
    private static final int SMALL = 32;

    private static final int FEW_TILES = 8;

    private final AttentionProblem problem;
    private final AttentionHeads heads;
    private final Operands operands;
    private final Kernels kernels;
    private final GpuContext context;

    /** Of a problem that has a result, and whose heads are these. */
    WarpgroupAttention(AttentionProblem problem, AttentionHeads heads, Operands operands, Kernels kernels) {
        this.problem = problem;
        this.heads = heads;
        this.operands = operands;
        this.kernels = kernels;
        this.context = kernels.context();
    }

    /** Why {@code attention_short_wgmma} does not take it; empty where it does. */
    String shortRefusal() {
        String refusal = heads.tensorCoreRefusal();
        if (!refusal.isEmpty()) {
            return refusal;
        }
        String noWarpgroups = noWarpgroups();
        if (!noWarpgroups.isEmpty()) {
            return noWarpgroups;
        }
        if (problem.keys() <= ShortWarpgroupForm.TOKENS / 2
                || problem.keys() > ShortWarpgroupForm.TOKENS
                || problem.queries() <= ShortWarpgroupForm.TOKENS / 2) {
            return problem.queries() + " queries and " + problem.keys() + " keys; it takes more than "
                    + ShortWarpgroupForm.TOKENS / 2 + " and at most " + ShortWarpgroupForm.TOKENS + " keys";
        }
        if (shortSize() == 0 || 2 * problem.largestSize() <= shortSize()) {
            return "heads of " + problem.size() + " and " + problem.sizeV() + " elements; it takes 17 to 64";
        }
        if (problem.maskStrides().query() != 0) {
            return "each query has its own mask";
        }
        if (problem.dtype() == DType.F32
                && problem.largestSize() <= SMALL
                && tiles() > (long) FEW_TILES * context.device().multiprocessors()) {
            return "many heads of " + problem.largestSize() + " elements in TF32, which attention_short makes as fast";
        }
        String rules = problem.refusalWhole();
        return rules.isEmpty() ? unmapped() : rules;
    }

    private int shortSize() {
        return AttentionCatalog.paddedForShort(problem.largestSize());
    }

    /** Why there are no products of warpgroups. */
    private String noWarpgroups() {
        return context.device().architecture().number() != CAPABILITY
                ? "compute capability " + context.device().architecture() + " is not 9.0"
                : kernels.compilesSpecific() ? "" : "no compiler for sm_90a";
    }

    /** Why the copy engine does not fetch it by tiles. */
    private String unmapped() {
        if (problem.batches() > 1 && problem.repeatsBatch()) {
            return "all batches have the same queries, keys or values";
        }
        return tiles() > Integer.MAX_VALUE || problem.keys() > Integer.MAX_VALUE / 2
                ? tiles() + " tiles or " + problem.keys() + " keys are more than 2^30"
                : "";
    }

    /** The same of {@code attention_wgmma}. */
    String refusal() {
        String noWarpgroups = noWarpgroups();
        if (!noWarpgroups.isEmpty()) {
            return noWarpgroups;
        }
        if (problem.dtype() != DType.F16 && problem.dtype() != DType.BF16) {
            return "it takes f16 and bf16, not " + problem.dtype();
        }
        if (padded() == 0 || problem.largestSize() < LEAST_SIZE) {
            return "heads of " + problem.size() + " and " + problem.sizeV() + " elements; it takes " + LEAST_SIZE
                    + " to 128";
        }
        if (!problem.isPacked()) {
            return "heads do not start on 16-byte boundaries";
        }
        if (problem.queries() <= WarpgroupForm.QUERIES / 2 || problem.keys() < LEAST_KEYS) {
            return problem.queries() + " queries and " + problem.keys() + " keys; it takes more than "
                    + WarpgroupForm.QUERIES / 2 + " and at least " + LEAST_KEYS;
        }
        return unmapped();
    }

    /** Whether cuDNN takes longer than {@code attention_wgmma}, with the launch behind it that causal ones need. */
    boolean isFasterThanLibrary() {
        return problem.causal()
                && problem.largestSize() >= LEAST_SIZE_BEFORE_LIBRARY
                && problem.keys() >= LEAST_KEYS_BEFORE_LIBRARY
                && refusal().isEmpty();
    }

    private long tiles() {
        return tiles(WarpgroupForm.QUERIES);
    }

    private long tiles(long queries) {
        return SizeMath.product(NAME, problem.batches(), problem.heads(), Math.ceilDiv(problem.queries(), queries));
    }

    /** Blocks of {@code attention_wgmma}: causal tiles come in pairs where they are more than multiprocessors. */
    int blocks() {
        int most = context.device().multiprocessors();
        long items = problem.causal() && tiles() > most ? tiles(2L * WarpgroupForm.QUERIES) : tiles();
        return (int) Math.min(items, most);
    }

    /** How the copy engine sees queries, keys and values: boxes of so many elements of 128 tokens of a head. */
    private PreparedLaunch.Builder maps(PreparedLaunch.Builder launch, int box) {
        map(launch, box, operands.q(), 0, problem.q(), problem.size(), problem.queries(), problem.heads());
        map(
                launch,
                box,
                operands.k(),
                operands.kStart(),
                problem.k(),
                problem.size(),
                problem.keys(),
                problem.keyHeads());
        return map(
                launch,
                box,
                operands.v(),
                operands.vStart(),
                problem.v(),
                problem.sizeV(),
                problem.keys(),
                problem.keyHeads());
    }

    private PreparedLaunch.Builder map(
            PreparedLaunch.Builder launch,
            int box,
            int slot,
            long start,
            Strides strides,
            int size,
            long tokens,
            long heads) {
        TensorMap.Element element = switch (problem.dtype()) {
            case F16 -> TensorMap.Element.F16;
            case BF16 -> TensorMap.Element.BF16;
            default -> TensorMap.Element.TF32;
        };
        return launch.map(
                slot,
                context,
                at -> new TensorMap(
                        element,
                        at + start,
                        List.of((long) size, tokens, heads, problem.batches()),
                        List.of(
                                apart(strides.token(), tokens),
                                apart(strides.head(), heads),
                                apart(strides.batch(), problem.batches())),
                        List.of(box, WarpgroupForm.QUERIES, 1, 1),
                        problem.dtype().bytesFor(box) == LINE
                                ? TensorMap.Swizzle.BYTES_128
                                : TensorMap.Swizzle.BYTES_64));
    }

    /** Bytes from one of `count` to the next; those of a single one are never used, and may be anything. */
    private long apart(long stride, long count) {
        return problem.dtype().bytesFor(count == 1 ? WarpgroupForm.BOX : stride);
    }

    /** What heads are padded to in {@code attention_wgmma}; 0 where they are larger. */
    int padded() {
        return AttentionCatalog.paddedForWarpgroups(problem.largestSize());
    }

    /** Of {@code attention_wgmma}. */
    PreparedLaunch launch() {
        WarpgroupForm form = new WarpgroupForm(problem.dtype(), padded());
        Kernel kernel =
                kernels.kernel(AttentionCatalog.ATTENTION_WGMMA, "attention_wgmma", form.variant(), form.sharedBytes());
        LaunchShape shape = LaunchShape.of(blocks(), WarpgroupForm.THREADS)
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch.Builder launch = problem.launch(kernel, shape, operands).add((int) problem.heads());
        return maps(launch, WarpgroupForm.BOX).build();
    }

    /** What {@code attention_short_wgmma} runs as, in words. */
    String shortText() {
        return "attention_short_wgmma, " + heads.type() + ", heads of " + shortSize();
    }

    /** Of {@code attention_short_wgmma}. */
    PreparedLaunch shortLaunch() {
        ShortWarpgroupForm form = new ShortWarpgroupForm(problem.dtype(), shortSize());
        Kernel kernel = kernels.kernel(
                AttentionCatalog.ATTENTION_SHORT_WGMMA, "attention_short_wgmma", form.variant(), form.sharedBytes());
        long room = (long) form.blocks() * context.device().multiprocessors();
        LaunchShape shape = LaunchShape.of((int) Math.min(tiles(), room), ShortWarpgroupForm.THREADS)
                .withSharedBytes(form.sharedBytes())
                .withProgrammatic();
        PreparedLaunch.Builder launch = problem.launch(kernel, shape, operands).add((int) problem.heads());
        return maps(launch, form.box()).build();
    }
}
