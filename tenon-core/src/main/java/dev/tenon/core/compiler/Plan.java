package dev.tenon.core.compiler;

import dev.tenon.core.compiler.memory.MemoryPlan;
import dev.tenon.core.ir.Graph;

/**
 * What a backend compiles: a graph of concrete shapes whose nodes are primitives and the composites that the backend claimed, in the order they will run, and a place in memory for every value. Its parameters are bound: there are only
 * inputs and constants.
 */
public record Plan(Graph graph, MemoryPlan memory) {}
