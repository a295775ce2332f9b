package dev.tenon.formats.onnx.mapping;

import dev.tenon.core.ir.Graph;
import dev.tenon.core.ir.TensorType;
import dev.tenon.core.ir.Value;
import dev.tenon.formats.onnx.schema.GraphProto;
import java.util.List;

/** Imports the graphs that a node holds; they may use the values around the node. */
public interface Branches {
    /** Graphs that all take the same inputs, and the outer values that those stand for. */
    record Captured(List<Graph> graphs, List<Value> captures) {}

    /** Each as a graph of its own, in order. */
    Captured graphs(List<GraphProto> branches);

    /**
     * The body of a loop as a graph that takes its own inputs, of those types, and then the outer values that it uses.
     */
    Captured loopBody(GraphProto body, List<TensorType> inputs);

    /** The nodes of one, added where the node stands; its results in order. */
    List<Value> inline(GraphProto branch);
}
