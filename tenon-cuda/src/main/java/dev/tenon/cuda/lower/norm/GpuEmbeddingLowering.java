package dev.tenon.cuda.lower.norm;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.normalisation.EmbeddingNorm;
import dev.tenon.cuda.kernel.KernelCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.Lowered;
import dev.tenon.cuda.lower.step.NoKernel;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.port.LaunchShape;
import java.util.List;

/** The norm of a sum of embeddings: one launch, a warp or half of one a row. */
public final class GpuEmbeddingLowering {
    private static final int MOST_TABLES = 3;
    private static final int THREADS = 128;
    private static final int ROWS = 4; // of a block
    private static final int PACK_BYTES = 16;
    private static final int LANES = 32;
    private static final long PACKS_OF_TEAM = 3;

    /** Rows from which on teams take several. */
    private static final long MANY_ROWS = 8192;

    private static final long ROWS_OF_TEAM = 4;
    private static final int WIDE_INDICES = 1;
    private static final int FLOATS = 2;

    private GpuEmbeddingLowering() {}

    /** Whether {@link #lower} takes a node, whatever numbers its named dims get. */
    public static boolean claims(EmbeddingNorm op, Node node) {
        Shape y = node.output().shape();
        if (!y.isKnown() || !y.dim(y.rank() - 1).isFixed() || op.tables() > MOST_TABLES) {
            return false;
        }
        long cols = y.size(y.rank() - 1);
        boolean rows = node
                .inputs()
                .subList(node.inputs().size() - 2, node.inputs().size())
                .stream()
                .allMatch(row -> row.shape().isConcrete() && row.shape().elements() == cols);
        boolean whole = !op.summand() || isWhole(node.input(2 * op.tables()).shape(), y);
        return KernelCatalog.EMBEDDING_TYPES.contains(node.output().dtype())
                && rows
                && whole
                && cols % pack(node) == 0
                && packs(node) <= KernelCatalog.EMBEDDING_PACKS.getLast();
    }

    /** Whether a summand's dims, apart from leading ones, are the last of the result's. */
    private static boolean isWhole(Shape summand, Shape y) {
        int lead = 0;
        while (lead < summand.rank() && summand.dim(lead).is(1)) {
            lead++;
        }
        Shape rest = summand.range(lead, summand.rank());
        return rest.rank() > 0 && rest.rank() <= y.rank() && rest.mustEqual(y.range(y.rank() - rest.rank(), y.rank()));
    }

    private static int pack(Node node) {
        return PACK_BYTES / node.output().dtype().bytes();
    }

    private static long cols(Node node) {
        Shape y = node.output().shape();
        return y.size(y.rank() - 1);
    }

    /** Packs of a lane. */
    private static long packs(Node node) {
        return Math.ceilDiv(cols(node), (long) LANES * pack(node));
    }

    /** Lanes of a row that has exactly three packs for each; 0 where no entry has so many. */
    private static long team(Node node) {
        long packs = cols(node) / pack(node);
        return KernelCatalog.EMBEDDING_TEAMS.stream()
                .filter(lanes -> packs == lanes * PACKS_OF_TEAM)
                .findFirst()
                .orElse(0);
    }

    /** Packs of a lane that the entry for rows of any length has. */
    private static int ofLane(Node node) {
        return KernelCatalog.EMBEDDING_PACKS.stream()
                .filter(packs -> packs >= packs(node))
                .findFirst()
                .orElseThrow();
    }

    public static Lowered lower(EmbeddingNorm op, Node node, GpuLoweringContext context) {
        if (!claims(op, node)) {
            return new NoKernel("the CUDA backend takes at most " + MOST_TABLES + " tables of rows of whole 16-byte"
                    + " pieces, at most 2048 elements, 1024 floats; gather, add and norm apart");
        }
        Shape y = node.output().shape();
        if (y.elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        long team = team(node);
        String entry = team > 0 ? "embedding_norm_l" + team + "_r" + PACKS_OF_TEAM : "embedding_norm_r" + ofLane(node);
        long rows = y.elements() / cols(node);
        long together = team > 0 ? ROWS * LANES / team * (rows > MANY_ROWS ? ROWS_OF_TEAM : 1) : ROWS;
        long blocks = Math.min(Math.ceilDiv(rows, together), Integer.MAX_VALUE);
        PreparedLaunch.Builder launch = PreparedLaunch.of(
                context.kernels()
                        .kernel(
                                KernelCatalog.EMBEDDING_NORM,
                                entry,
                                KernelVariant.of(node.output().dtype())),
                LaunchShape.of((int) blocks, THREADS).withProgrammatic());
        for (int i = 0; i < MOST_TABLES; i++) {
            if (i < op.tables()) {
                Value table = node.input(2 * i);
                boolean wide = node.input(2 * i + 1).dtype() == DType.I64;
                launch.value(context.slot(table))
                        .value(context.slot(node.input(2 * i + 1)))
                        .add(table.shape().size(0))
                        .add((wide ? WIDE_INDICES : 0) + floats(table));
            } else {
                launch.none().none().add(0L).add(0);
            }
        }
        if (op.summand()) {
            Value summand = node.input(2 * op.tables());
            launch.value(context.slot(summand))
                    .add(summand.shape().elements() / cols(node))
                    .add(floats(summand));
        } else {
            launch.none().add(1L).add(0);
        }
        launch.value(context.slot(node.input(node.inputs().size() - 2)))
                .value(context.slot(node.inputs().getLast()))
                .value(context.slot(node.output()))
                .add(rows)
                .add(SizeMath.toInt(op.mnemonic(), cols(node)))
                .compute(DType.F32, op.epsilon())
                .faults(context);
        List<Long> sizes = node.inputs().subList(0, 2 * op.tables()).stream()
                .filter(input -> input.dtype().isFloat())
                .map(table -> table.shape().size(0))
                .toList();
        String fits = team > 0 ? ", " + team + " lanes a row" : ", a row fits the registers of a warp";
        return LaunchStep.of(entry + fits, launch.build())
                .withFaults(index -> "index " + index + " is out of range for a table; tables have " + sizes + " rows");
    }

    private static int floats(Value rows) {
        return rows.dtype() == DType.F32 ? FLOATS : 0;
    }
}
