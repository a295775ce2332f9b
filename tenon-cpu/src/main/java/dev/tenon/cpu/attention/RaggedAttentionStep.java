package dev.tenon.cpu.attention;

import dev.tenon.core.error.DataException;
import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Elements;
import dev.tenon.core.ir.Node;
import dev.tenon.core.ir.Shape;
import dev.tenon.core.ir.SizeMath;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.cpu.function.PlainPowers;
import dev.tenon.cpu.loops.Loops;
import dev.tenon.cpu.step.CpuFrame;
import dev.tenon.cpu.step.CpuLoweringContext;
import dev.tenon.cpu.step.Doubles;
import dev.tenon.cpu.step.LoopStep;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * {@link RaggedAttention}: a unit is a token and a head of keys, whose rows are read once for all of its query heads;
 * sums are in double, products of f32 in f32.
 */
final class RaggedAttentionStep extends LoopStep {
    private static final int QUERY_OFFSETS = 3;
    private static final int KEY_OFFSETS = 4;
    private static final int PAGES = 5;

    private final RaggedAttention op;
    private final DType dtype;
    private final int[] slots;
    private final int output;
    private final Shape k;
    private final long tokens;
    private final long heads;
    private final long groups;
    private final double scale;
    private final int size;
    private final int sizeV;
    private final long sequences;
    private final long page;
    private final long columns;

    RaggedAttentionStep(RaggedAttention op, Node node, CpuLoweringContext context) {
        Shape q = node.input(0).shape();
        Shape v = node.input(2).shape();
        long groups = v.size(v.rank() - 2);
        List<TensorType> types = node.inputs().stream().map(Value::type).toList();
        long ratio = q.size(1) / Math.max(1, groups);
        super(
                "tokens and heads of keys",
                SizeMath.product("ragged_attention", q.size(0), groups),
                SizeMath.estimate(op.unitCost(types) / 2, ratio));
        this.op = op;
        this.dtype = node.output().dtype();
        this.slots = node.inputs().stream().mapToInt(context::slot).toArray();
        this.output = context.slot(node.output());
        this.k = node.input(1).shape();
        this.tokens = q.size(0);
        this.heads = q.size(1);
        this.groups = groups;
        this.size = SizeMath.toInt("ragged_attention", q.size(2));
        this.scale = op.scaleFor(size);
        this.sizeV = SizeMath.toInt("ragged_attention", v.size(v.rank() - 1));
        this.sequences = node.input(QUERY_OFFSETS).shape().size(0) - 1;
        this.page = op.paged() ? v.size(1) : 0;
        this.columns = op.paged() ? node.input(PAGES).shape().size(1) : 0;
    }

    private long integer(CpuFrame frame, int input, long element) {
        return Elements.getLong(DType.I32, frame.at(slots[input]), element);
    }

    private long keys(CpuFrame frame, long sequence) {
        return op.paged()
                ? integer(frame, KEY_OFFSETS, sequence)
                : integer(frame, KEY_OFFSETS, sequence + 1) - integer(frame, KEY_OFFSETS, sequence);
    }

    @Override
    public long workspaceBytes() {
        return groups == 0 ? 0 : heads / groups * Float.BYTES;
    }

    @Override
    public void run(CpuFrame frame) {
        for (long sequence = 0; tokens * groups > 0 && sequence < sequences; sequence++) {
            if (!isValid(frame, sequence)) {
                throw new DataException(op.fault(sequence));
            }
        }
        super.run(frame);
    }

    private boolean isValid(CpuFrame frame, long sequence) {
        long start = integer(frame, QUERY_OFFSETS, sequence);
        long end = integer(frame, QUERY_OFFSETS, sequence + 1);
        long most = op.longest() == 0 ? tokens : op.longest();
        long keys = keys(frame, sequence);
        if (start < 0 || start > end || end > tokens || end - start > most || keys < 0) {
            return false;
        }
        if (!op.paged()) {
            long first = integer(frame, KEY_OFFSETS, sequence);
            return first >= 0 && first + keys <= k.size(0);
        }
        long pages = Math.ceilDiv(keys, page);
        boolean valid = pages <= columns;
        for (long i = 0; valid && i < pages; i++) {
            long one = integer(frame, PAGES, sequence * columns + i);
            valid = one >= 0 && one < k.size(0);
        }
        return valid;
    }

    @Override
    public void run(CpuFrame frame, long from, long to, int worker) {
        Rows rows = new Rows(frame, worker);
        for (long unit = from; unit < to; unit++) {
            long token = unit / groups;
            // the last sequence that begins at the token or before it; empty ones come before
            long low = 0;
            long high = sequences;
            while (low < high) {
                long middle = (low + high) / 2;
                if (integer(frame, QUERY_OFFSETS, middle + 1) <= token) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            boolean within = low < sequences && integer(frame, QUERY_OFFSETS, low) <= token;
            rows.compute(token, unit % groups, within ? low : -1);
        }
    }

    /** What a thread keeps: rows in double, scores by query head and key. */
    private final class Rows {
        private final CpuFrame frame;
        private final MemorySegment space;
        private final Loops loops = Loops.current();
        private final int readers = (int) (heads / groups);
        private final double[] queries = new double[SizeMath.toInt("ragged_attention", readers, size)];
        private final double[] row = new double[Math.max(size, sizeV)];
        private final double[] largest = new double[readers];
        private final double[] products = new double[readers];
        private final double[] totals = new double[readers];
        private final double[] sums = new double[SizeMath.toInt("ragged_attention", readers, sizeV)];
        private double[] scores = new double[0];

        Rows(CpuFrame frame, int worker) {
            this.frame = frame;
            this.space = frame.workspace(worker);
        }

        void compute(long token, long group, long sequence) {
            Arrays.fill(sums, 0);
            Arrays.fill(totals, 0);
            Arrays.fill(largest, Double.NEGATIVE_INFINITY);
            long first = token * heads + group * readers;
            if (sequence >= 0) {
                attend(token, group, first, sequence);
            }
            for (int reader = 0; reader < readers; reader++) {
                boolean none = largest[reader] == Double.NEGATIVE_INFINITY;
                for (int i = 0; i < sizeV; i++) {
                    row[i] = none ? 0 : sums[reader * sizeV + i] / totals[reader];
                }
                Doubles.write(dtype, row, sizeV, frame.at(output), (first + reader) * sizeV);
            }
        }

        private void attend(long token, long group, long first, long sequence) {
            long start = integer(frame, QUERY_OFFSETS, sequence);
            int keys = SizeMath.toInt("ragged_attention", keys(frame, sequence));
            long position = token - start + keys - (integer(frame, QUERY_OFFSETS, sequence + 1) - start);
            int low = op.window() == 0 ? 0 : Math.clamp(position - op.window() + 1, 0, keys);
            int high = op.causal() ? Math.clamp(position + 1, low, keys) : keys;
            int count = high - low;
            if (scores.length < SizeMath.product("ragged_attention", readers, count)) {
                scores = new double[SizeMath.toInt("ragged_attention", readers, keys)];
            }
            Doubles.read(dtype, frame.at(slots[0]), first * size, queries, queries.length);
            for (int j = 0; j < count; j++) {
                multiply(first, place(sequence, low + j, group));
                for (int reader = 0; reader < readers; reader++) {
                    double score = score(products[reader], first % heads + reader, low + j - position);
                    scores[reader * count + j] = score;
                    largest[reader] = Math.max(largest[reader], score);
                }
            }
            for (int j = 0; j < count; j++) {
                Doubles.read(dtype, frame.at(slots[2]), place(sequence, low + j, group) * sizeV, row, sizeV);
                for (int reader = 0; reader < readers; reader++) {
                    add(reader, scores[reader * count + j]);
                }
            }
        }

        /** The products of a key with the queries of its group, which lie one after the other. */
        private void multiply(long query, long key) {
            if (dtype == DType.F32) {
                long at = key * size * Float.BYTES;
                long queryAt = query * size * Float.BYTES;
                loops.dots(frame.at(slots[1]), at, frame.at(slots[0]), queryAt, size, space, 0, readers);
                Doubles.read(dtype, space, 0, products, readers);
                return;
            }
            Doubles.read(dtype, frame.at(slots[1]), key * size, row, size);
            for (int reader = 0; reader < readers; reader++) {
                products[reader] = dot(queries, reader * size, row, size);
            }
        }

        private double score(double product, long head, long distance) {
            double score = scale * product;
            double capped = op.softCap() > 0 ? op.softCap() * Math.tanh(score / op.softCap()) : score;
            return op.alibi() ? capped + Doubles.get(DType.F32, frame.at(slots[op.slopes()]), head) * distance : capped;
        }

        private void add(int reader, double score) {
            if (score == Double.NEGATIVE_INFINITY || largest[reader] == Double.NEGATIVE_INFINITY) {
                return;
            }
            double power = score - largest[reader];
            double weight = dtype == DType.F64 ? Math.exp(power) : PlainPowers.exp(power);
            totals[reader] += weight;
            int at = reader * sizeV;
            for (int i = 0; i < sizeV; i++) {
                sums[at + i] += weight * row[i];
            }
        }

        /** The row of a key's head among those of k, and of v. */
        private long place(long sequence, long key, long group) {
            if (!op.paged()) {
                return (integer(frame, KEY_OFFSETS, sequence) + key) * groups + group;
            }
            long one = integer(frame, PAGES, sequence * columns + key / page);
            return (one * page + key % page) * groups + group;
        }
    }

    /** Four sums side by side, so that an addition need not wait for the one before. */
    private static double dot(double[] a, int from, double[] b, int n) {
        double sum0 = 0;
        double sum1 = 0;
        double sum2 = 0;
        double sum3 = 0;
        int i = 0;
        for (; i < n - 3; i += 4) {
            sum0 += a[from + i] * b[i];
            sum1 += a[from + i + 1] * b[i + 1];
            sum2 += a[from + i + 2] * b[i + 2];
            sum3 += a[from + i + 3] * b[i + 3];
        }
        for (; i < n; i++) {
            sum0 += a[from + i] * b[i];
        }
        return sum0 + sum1 + (sum2 + sum3);
    }
}
