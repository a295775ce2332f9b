package dev.tenon.formats.onnx;

import dev.tenon.core.error.ImportException;
import dev.tenon.formats.onnx.schema.NodeProto;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.Predicate;

/** Puts nodes behind those whose results they use. The specification asks writers for that; not all comply. */
final class NodeOrder {
    private NodeOrder() {}

    /**
     * The nodes as they are when they are in order, else the first order that is, by their places in the file.
     *
     * @param given whether a name is defined already
     * @throws ImportException for a value that nothing defines, one that two nodes define, or a cycle
     */
    static List<NodeProto> of(String file, List<NodeProto> nodes, Predicate<String> given) {
        List<Set<String>> uses = nodes.stream().map(FreeNames::of).toList();
        return isOrdered(nodes, uses, given) ? nodes : sorted(file, nodes, uses, given);
    }

    private static boolean isOrdered(List<NodeProto> nodes, List<Set<String>> uses, Predicate<String> given) {
        Set<String> defined = new HashSet<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (String name : uses.get(i)) {
                if (!defined.contains(name) && !given.test(name)) {
                    return false;
                }
            }
            defined.addAll(nodes.get(i).outputs());
        }
        return true;
    }

    private static List<NodeProto> sorted(
            String file, List<NodeProto> nodes, List<Set<String>> uses, Predicate<String> given) {
        Map<String, Integer> producers = new HashMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (String name : nodes.get(i).outputs()) {
                if (!name.isEmpty() && producers.put(name, i) != null) {
                    throw at(file, nodes.get(i), "value \"" + name + "\" is defined twice");
                }
            }
        }
        int[] missing = new int[nodes.size()];
        List<List<Integer>> users = new ArrayList<>();
        nodes.forEach(node -> users.add(new ArrayList<>()));
        PriorityQueue<Integer> ready = new PriorityQueue<>();
        for (int i = 0; i < nodes.size(); i++) {
            for (String name : uses.get(i)) {
                Integer producer = producers.get(name);
                if (producer != null) {
                    users.get(producer).add(i);
                    missing[i]++;
                } else if (!given.test(name)) {
                    throw at(file, nodes.get(i), "value \"" + name + "\" is not defined");
                }
            }
            if (missing[i] == 0) {
                ready.add(i);
            }
        }
        List<NodeProto> sorted = new ArrayList<>();
        while (!ready.isEmpty()) {
            int next = ready.remove();
            sorted.add(nodes.get(next));
            for (int user : users.get(next)) {
                if (--missing[user] == 0) {
                    ready.add(user);
                }
            }
        }
        for (int i = 0; i < nodes.size(); i++) {
            if (missing[i] > 0) {
                throw at(file, nodes.get(i), "it is part of a cycle, or behind one");
            }
        }
        return sorted;
    }

    private static ImportException at(String file, NodeProto node, String what) {
        return new ImportException(file + ": node \"" + node.label() + "\": operator " + node.opType() + ": " + what);
    }
}
