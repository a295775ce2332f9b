package dev.tenon.cuda.lower.signal;

import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.op.signal.Dft;
import dev.tenon.cuda.kernel.Grids;
import dev.tenon.cuda.kernel.WindowCatalog;
import dev.tenon.cuda.kernel.file.KernelVariant;
import dev.tenon.cuda.lower.step.GpuLoweringContext;
import dev.tenon.cuda.lower.step.GpuStep;
import dev.tenon.cuda.lower.step.LaunchStep;
import dev.tenon.cuda.lower.step.NoWork;
import dev.tenon.cuda.lower.step.PreparedLaunch;
import dev.tenon.cuda.lower.step.Workspace;
import dev.tenon.cuda.port.DeviceProperties;
import dev.tenon.cuda.port.LaunchShape;
import java.util.ArrayList;
import java.util.List;

/**
 * Fourier transforms: in shared memory where the length fits, else in passes over the workspace; lengths with a large
 * prime factor as a convolution of a power of two (Bluestein 1970).
 */
public final class GpuDftLowering {
    static final int COMPLEX_BYTES = 16;
    private static final int MOST_PASSES = 24;
    /** Larger primes make sums of more terms than Bluestein's convolution costs. */
    private static final long MOST_RADIX = 128;

    private static final int MOST_SHARED_BYTES = 128 << 10;
    /** Numbers of a block that hide the time of a pass. */
    private static final long NUMBERS_A_BLOCK = 1024;

    private static final long MOST_WORKSPACE_BYTES = 256 << 20;
    private static final int TABLE_BLOCKS = 1024;

    private final Dft op;
    private final Node node;
    private final GpuLoweringContext context;
    private final KernelVariant variant;
    private final long units;
    private final List<PreparedLaunch> launches = new ArrayList<>();
    private final Workspace workspace = new Workspace();

    private GpuDftLowering(Dft op, Node node, GpuLoweringContext context) {
        this.op = op;
        this.node = node;
        this.context = context;
        this.variant = KernelVariant.of(node.output().dtype());
        Shape x = node.input(0).shape();
        this.units = SizeMath.product("dft", x.elements(0, op.axis()), x.elements(op.axis() + 1, x.rank() - 1));
    }

    /** The step of a transform of concrete sizes. */
    public static GpuStep lower(Dft op, Node node, GpuLoweringContext context) {
        if (node.output().shape().elements() == 0) {
            return new NoWork(op.mnemonic());
        }
        return new GpuDftLowering(op, node, context).step();
    }

    private GpuStep step() {
        List<Long> radices = radices(op.length());
        boolean smooth = radices.stream().allMatch(radix -> radix <= MOST_RADIX);
        DeviceProperties device = context.kernels().context().device();
        long fits = Math.min(device.sharedBytesPerBlockOptIn(), MOST_SHARED_BYTES) / (2 * COMPLEX_BYTES);
        if (smooth && op.length() <= fits) {
            return inBlocks(radices, fits);
        }
        return smooth ? inPasses(radices) : asConvolution();
    }

    /** Radices of passes whose product is the length: fours, a two, then odd primes. */
    static List<Long> radices(long length) {
        List<Long> radices = new ArrayList<>();
        long rest = length;
        for (long radix = 4; rest > 1; radix = radix == 4 ? 2 : radix == 2 ? 3 : radix + 2) {
            if (radix > 4 && radix * radix > rest) {
                radix = rest;
            }
            for (; rest % radix == 0; rest /= radix) {
                radices.add(radix);
            }
        }
        return radices;
    }

    private GpuStep inBlocks(List<Long> radices, long fits) {
        long length = op.length();
        long group = Math.clamp(NUMBERS_A_BLOCK / length, 1, Math.min(fits / length, units));
        long table = table(length, false);
        int shared = SizeMath.toInt("dft", group, length, 2 * COMPLEX_BYTES);
        int blocks = (int) Math.min(Math.ceilDiv(units, group), Integer.MAX_VALUE);
        launches.add(PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.DFT, "dft_block", variant, shared),
                        LaunchShape.of(blocks, 256).withSharedBytes(shared))
                .value(context.slot(node.input(0)))
                .value(context.slot(node.output()))
                .workspace(table)
                .struct(space(0, units, group, radices))
                .build());
        return done("dft_block, " + group + " transforms a block, radices " + radices);
    }

    private GpuStep inPasses(List<Long> radices) {
        long length = op.length();
        long table = table(length, false);
        long rows = rows(length);
        long from = take(rows, length);
        long to = take(rows, length);
        for (long first = 0; first < units; first += rows) {
            long count = Math.min(rows, units - first);
            long[] space = space(first, count, 1, radices);
            launches.add(launch("dft_load", SizeMath.product("dft", count, length))
                    .value(context.slot(node.input(0)))
                    .workspace(from)
                    .struct(space)
                    .build());
            long result = passes(radices, from, to, table, count, length);
            launches.add(launch("dft_store", SizeMath.product("dft", count, length))
                    .workspace(result)
                    .value(context.slot(node.output()))
                    .struct(space)
                    .build());
        }
        return done("dft_pass, radices " + radices);
    }

    private GpuStep asConvolution() {
        long padded = Long.highestOneBit(2 * op.length() - 1) * 2;
        List<Long> radices = radices(padded);
        long table = table(padded, false);
        long chirp = table(op.length(), true);
        long rows = rows(padded);
        long from = take(rows + 1, padded);
        long to = take(rows + 1, padded);
        for (long first = 0; first < units; first += rows) {
            long count = Math.min(rows, units - first);
            long numbers = SizeMath.product("dft", count + 1, padded);
            long[] space = space(first, count, 1, List.of());
            launches.add(launch("dft_chirp_load", numbers)
                    .value(context.slot(node.input(0)))
                    .workspace(from)
                    .workspace(chirp)
                    .add(padded)
                    .struct(space)
                    .build());
            long spectrum = passes(radices, from, to, table, count + 1, padded);
            launches.add(launch("dft_chirp_multiply", numbers)
                    .workspace(spectrum)
                    .add(padded)
                    .add(count)
                    .build());
            long result = passes(radices, spectrum, spectrum == from ? to : from, table, count, padded);
            launches.add(launch("dft_chirp_store", SizeMath.product("dft", count, op.length()))
                    .workspace(result)
                    .value(context.slot(node.output()))
                    .workspace(chirp)
                    .add(padded)
                    .struct(space)
                    .build());
        }
        return done("dft_pass, a convolution of " + padded);
    }

    /** All passes, from one buffer to the other and back. Returns where the result lies. */
    private long passes(List<Long> radices, long from, long to, long table, long rows, long length) {
        long read = from;
        long written = to;
        long behind = 1;
        for (long radix : radices) {
            launches.add(launch("dft_pass", SizeMath.product("dft", rows, radix == 4 ? length / 4 : length))
                    .workspace(read)
                    .workspace(written)
                    .workspace(table)
                    .add(rows)
                    .add(length)
                    .add(behind)
                    .add((int) radix)
                    .build());
            behind *= radix;
            long next = read;
            read = written;
            written = next;
        }
        return read;
    }

    private PreparedLaunch.Builder launch(String entry, long pieces) {
        return PreparedLaunch.of(context.kernels().kernel(WindowCatalog.DFT, entry, variant), Grids.of(pieces));
    }

    /** How many rows are transformed together. */
    private long rows(long length) {
        return Math.clamp(MOST_WORKSPACE_BYTES / SizeMath.product("dft", 2, COMPLEX_BYTES, length), 1, units);
    }

    private long take(long rows, long length) {
        return workspace.take(SizeMath.product("dft", rows, length, COMPLEX_BYTES));
    }

    /** Adds the launch that fills a table; returns where it lies. */
    private long table(long length, boolean chirp) {
        long at = take(1, length);
        int blocks = (int) Math.min(Math.ceilDiv(length, 256L), TABLE_BLOCKS);
        launches.add(PreparedLaunch.of(
                        context.kernels().kernel(WindowCatalog.DFT, "dft_tables", variant), LaunchShape.of(blocks, 256))
                .workspace(at)
                .add(length)
                .add(chirp)
                .build());
        return at;
    }

    /** The struct DftSpace of dft.cu. */
    private long[] space(long first, long count, long group, List<Long> radices) {
        Shape x = node.input(0).shape();
        Shape y = node.output().shape();
        int last = x.rank() - 1;
        boolean mirrored = op.onesided() && op.inverse();
        long[] words = new long[14 + MOST_PASSES];
        long[] head = {
            units,
            first,
            count,
            op.length(),
            x.elements(op.axis() + 1, last),
            x.size(op.axis()),
            x.size(last),
            y.size(op.axis()),
            y.size(last),
            op.inverse() ? 1 : 0,
            mirrored ? 1 : 0,
            Math.min(x.size(op.axis()), mirrored ? op.length() / 2 + 1 : op.length()),
            group,
            radices.size()
        };
        System.arraycopy(head, 0, words, 0, head.length);
        for (int i = 0; i < radices.size(); i++) {
            words[head.length + i] = radices.get(i);
        }
        return words;
    }

    private GpuStep done(String tier) {
        return LaunchStep.of(tier, launches, workspace.bytes());
    }
}
