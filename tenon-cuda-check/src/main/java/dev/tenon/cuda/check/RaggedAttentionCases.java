package dev.tenon.cuda.check;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.Interpreter;
import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Tolerance;
import dev.tenon.core.ir.op.attention.RaggedAttention;
import dev.tenon.core.options.Precision;
import dev.tenon.cuda.blas.Blas;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Sequences of their own lengths: none, one, odd, more than a tile; keys in one piece and in pages out of order. */
final class RaggedAttentionCases {
    private static final String KERNEL = "ragged_attention";

    /**
     * What is drawn.
     *
     * @param queries of each sequence
     * @param keys likewise
     * @param page tokens of a page; 0 for keys in one piece
     */
    private record Form(List<Integer> queries, List<Integer> keys, int heads, int groups, int size, int page) {}

    private static final Form PREFILL = new Form(List.of(1, 70, 0, 129, 17), List.of(1, 70, 3, 140, 90), 4, 2, 64, 0);
    private static final Form PAGED = new Form(List.of(5, 0, 66, 20), List.of(5, 9, 66, 201), 4, 4, 32, 16);
    private static final Form DECODE = new Form(List.of(1, 1, 1, 1, 1), List.of(1, 700, 0, 129, 64), 8, 2, 128, 16);
    private static final Form FEW = new Form(List.of(3, 0, 16), List.of(300, 5, 16), 6, 2, 64, 0);
    private static final Form ODD = new Form(List.of(2, 40, 5), List.of(2, 37, 60), 3, 1, 20, 7);

    private static final Form NO_KEYS = new Form(List.of(5, 150, 40), List.of(0, 150, 0), 3, 1, 64, 0);

    private RaggedAttentionCases() {}

    static List<KernelCase> all() {
        List<KernelCase> cases = new ArrayList<>();
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            add(cases, type, "prefill", PREFILL);
            add(cases, type, "paged", PAGED);
            add(cases, type, "decode", DECODE);
            add(cases, type, "few queries", FEW);
            add(cases, type, "odd heads", ODD);
            add(cases, type, "no keys", NO_KEYS);
        }
        cases.add(new KernelCase(KERNEL, "tokens of no sequence", RaggedAttentionCases::outside));
        cases.add(new KernelCase(KERNEL, "values that are not seen", RaggedAttentionCases::unseen));
        cases.add(new KernelCase(KERNEL, "sequences elsewhere", RaggedAttentionCases::elsewhere));
        return cases;
    }

    private static void add(List<KernelCase> cases, DType type, String name, Form form) {
        for (int rules = 0; rules < 4; rules++) {
            int bits = rules;
            String what = type + " " + name
                    + List.of("", ", causal", ", window, slopes", ", causal, cap, slopes")
                            .get(bits);
            cases.add(new KernelCase(KERNEL, what, stage -> check(stage, type, form, bits)));
        }
    }

    private static RaggedAttention op(Form form, int rules) {
        long longest = 0;
        for (int queries : form.queries) {
            longest = Math.max(longest, queries);
        }
        return new RaggedAttention(
                rules % 2 == 1,
                rules == 2 ? 33 : 0,
                Double.NaN,
                rules == 3 ? 5 : 0,
                rules >= 2,
                form.page > 0,
                longest);
    }

    private static void check(KernelStage stage, DType type, Form form, int rules) {
        Precision precision = rules == 1 && type == DType.F32 ? Precision.STRICT : Precision.FAST;
        compare(stage, precision, op(form, rules), inputs(type, form, rules), form.size);
    }

    /** Runs an attention, captured before it has ever run, and compares it with its definition. */
    private static void compare(
            KernelStage stage, Precision precision, RaggedAttention op, List<NdArray> inputs, int size) {
        NdArray expected = Interpreter.run(op, inputs).getFirst();
        StepRun.Result result = new StepRun(stage, Blas.none("it needs none"), precision).replay(op, inputs);
        DType dtype = expected.dtype();
        // weights are rounded to the operands' type, TF32 has as many digits as f16, before they are summed
        boolean tensorCores = !result.step().tier().startsWith("attention_ragged,");
        double step = !tensorCores ? 0 : Tolerance.epsilon(dtype == DType.F32 ? DType.F16 : dtype);
        Tolerance base = Tolerance.of(dtype, 256 + size);
        new Tolerance(base.relative() + 2 * step, base.absolute() + 2 * step)
                .check(result.step().tier(), expected, result.output());
        Tolerance.EXACT.check("fault", NdArray.zeros(DType.I64, 2), result.fault());
    }

    private static int sum(List<Integer> all) {
        int sum = 0;
        for (int one : all) {
            sum += one;
        }
        return sum;
    }

    private static List<NdArray> inputs(DType type, Form form, int rules) {
        Random random = new Random(form.size + rules);
        List<NdArray> inputs = new ArrayList<>();
        inputs.add(CaseArrays.normal(random, type, sum(form.queries), form.heads, form.size));
        int count = form.queries.size();
        if (form.page == 0) {
            inputs.add(CaseArrays.normal(random, type, sum(form.keys), form.groups, form.size));
            inputs.add(CaseArrays.normal(random, type, sum(form.keys), form.groups, form.size));
            inputs.add(offsets(form.queries, 0));
            inputs.add(offsets(form.keys, 0));
        } else {
            int columns = 0;
            for (int keys : form.keys) {
                columns = Math.max(columns, Math.ceilDiv(keys, form.page));
            }
            int pages = count * columns + 3;
            inputs.add(CaseArrays.normal(random, type, pages, form.page, form.groups, form.size));
            inputs.add(CaseArrays.normal(random, type, pages, form.page, form.groups, form.size));
            inputs.add(offsets(form.queries, 0));
            NdArray lengths = NdArray.zeros(TensorType.of(DType.I32, count));
            for (int i = 0; i < count; i++) {
                lengths.set(i, (long) form.keys.get(i));
            }
            inputs.add(lengths);
            inputs.add(table(random, form, pages, columns));
        }
        if (rules >= 2) {
            inputs.add(CaseArrays.filled(DType.F32, () -> random.nextDouble(-0.2, 0.4), form.heads));
        }
        return inputs;
    }

    /** Pages in any order; behind a sequence's last they are out of range. */
    private static NdArray table(Random random, Form form, int pages, int columns) {
        List<Integer> free = new ArrayList<>();
        for (int i = 0; i < pages; i++) {
            free.add(i);
        }
        Collections.shuffle(free, random);
        NdArray table = NdArray.zeros(TensorType.of(DType.I32, form.keys.size(), columns));
        for (int i = 0; i < table.size(); i++) {
            boolean used = i % columns < Math.ceilDiv(form.keys.get(i / columns), form.page);
            table.set(i, used ? (long) free.get(i) : -7L);
        }
        return table;
    }

    private static NdArray offsets(List<Integer> lengths, int start) {
        NdArray offsets = NdArray.zeros(TensorType.of(DType.I32, lengths.size() + 1L));
        long at = start;
        for (int i = 0; i <= lengths.size(); i++) {
            offsets.set(i, at);
            at += i < lengths.size() ? lengths.get(i) : 0;
        }
        return offsets;
    }

    private static void outside(KernelStage stage) {
        Random random = new Random(3);
        for (DType type : List.of(DType.F32, DType.F16, DType.F64)) {
            for (List<Integer> lengths : List.of(List.of(4, 2), List.of(20, 30), List.<Integer>of())) {
                NdArray q = CaseArrays.normal(random, type, sum(lengths) + 9L, 2, 32);
                NdArray k = CaseArrays.normal(random, type, sum(lengths) + 9L, 2, 32);
                NdArray offsets = offsets(lengths, lengths.isEmpty() ? -1 : 5);
                for (long longest : new long[] {0, 30}) {
                    RaggedAttention op = new RaggedAttention(true, 0, 0.2, 0, false, false, longest);
                    compare(stage, Precision.FAST, op, List.of(q, k, k, offsets, offsets), 32);
                }
            }
        }
    }

    /** Keys of other sequences and behind the end of a page have no part, whatever they are. */
    private static void unseen(KernelStage stage) {
        for (DType type : List.of(DType.F32, DType.F16, DType.BF16, DType.F64)) {
            for (Form form : List.of(PAGED, DECODE)) {
                List<NdArray> inputs = inputs(type, form, 1);
                NdArray lengths = inputs.get(4);
                NdArray table = inputs.get(5);
                long row = (long) form.groups * form.size;
                for (int b = 0; b < form.keys.size(); b++) {
                    long keys = lengths.getLong(b);
                    if (keys % form.page != 0) {
                        long page = table.getLong((int) (b * table.shape().size(1) + keys / form.page));
                        int from = (int) ((page * form.page + keys % form.page) * row);
                        inputs.get(1).set(from, Double.NaN);
                        inputs.get(2).set(from, Double.POSITIVE_INFINITY);
                    }
                }
                compare(stage, Precision.FAST, op(form, 1), inputs, form.size);
            }
        }
    }

    private static void elsewhere(KernelStage stage) {
        for (DType type : List.of(DType.F16, DType.F64)) {
            for (Form form : List.of(PREFILL, PAGED, DECODE)) {
                List<NdArray> inputs = inputs(type, form, 0);
                for (long[] wrong :
                        new long[][] {{3, 1, -1}, {3, 1, 1 << 20}, {4, 1, -2}, {4, 1, 1 << 20}, {5, 0, -1}, {5, 0, 4000}
                        }) {
                    int input = (int) wrong[0];
                    if (input < inputs.size()) {
                        List<NdArray> other = new ArrayList<>(inputs);
                        long[] changed = inputs.get(input).toLongs();
                        changed[(int) wrong[1]] = wrong[2];
                        other.set(input, NdArray.of(inputs.get(input).type(), changed));
                        NdArray fault = StepRun.withoutLibraries(stage)
                                .run(op(form, 0), other)
                                .fault();
                        if (fault.getLong(0) != 1) {
                            throw new AssertionError(
                                    op(form, 0) + ": input " + input + " with " + wrong[2] + " is not reported");
                        }
                    }
                }
            }
        }
    }
}
