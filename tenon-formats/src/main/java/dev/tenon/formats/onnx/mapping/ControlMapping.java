package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.NdArray;
import dev.tenon.core.ir.Value;
import dev.tenon.core.ir.op.control.If;
import dev.tenon.formats.onnx.schema.GraphProto;
import java.util.ArrayList;
import java.util.List;

/** Branches and loops. */
final class ControlMapping {
    private ControlMapping() {}

    static List<Value> map(NodeContext n) {
        return switch (n.op()) {
            case "If" -> branch(n);
            case "Loop" -> LoopMapping.loop(n);
            case "Scan" -> n.since(9) ? LoopMapping.scan(n) : LoopMapping.batchedScan(n);
            default -> throw OnnxOps.unlisted(n);
        };
    }

    /**
     * What a branch takes from around it becomes an input of both; a condition that is known leaves just its branch.
     */
    private static List<Value> branch(NodeContext n) {
        GraphProto thenBranch = n.attrGraph("then_branch");
        GraphProto elseBranch = n.attrGraph("else_branch");
        NdArray known = n.known(0);
        if (known != null) {
            return n.branches().inline(known.getLong(0) != 0 ? thenBranch : elseBranch);
        }
        Branches.Captured captured = n.branches().graphs(List.of(thenBranch, elseBranch));
        List<Value> operands = new ArrayList<>(List.of(n.in(0)));
        operands.addAll(captured.captures());
        return n.addAll(new If(captured.graphs().get(0), captured.graphs().get(1)), operands);
    }
}
