package dev.tenon.cuda.lower.elementwise;

import dev.tenon.core.ir.DType;
import dev.tenon.core.ir.op.elementwise.Cast;
import dev.tenon.core.ir.op.elementwise.Region;
import dev.tenon.cuda.kernel.RegionProgram;
import java.util.ArrayList;
import java.util.List;

/**
 * A region that holds short floats as f32 between its steps, by casts where they come in and go out: written to memory
 * as they are, they would be rounded after each step. Casts of the region itself round all the same. Not bound by a
 * region's limit on steps.
 *
 * @param types of the inputs and after them of what each step gives
 */
record WideRegion(List<Region.Step> steps, List<Integer> results, List<DType> types) {
    static WideRegion of(Region region, List<DType> inputs) {
        List<DType> old = RegionProgram.types(region, inputs);
        WideRegion wide = new WideRegion(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(inputs));
        List<Integer> place = new ArrayList<>(); // of each old value among the new ones
        for (int i = 0; i < inputs.size(); i++) {
            place.add(wide.widened(i));
        }
        for (Region.Step step : region.steps()) {
            List<Integer> arguments = step.arguments().stream().map(place::get).toList();
            place.add(wide.widened(wide.add(new Region.Step(step.op(), arguments))));
        }
        for (int result : region.results()) {
            int value = inputs.size() + result;
            DType type = old.get(value);
            int at = place.get(value);
            wide.results.add((isShort(type) ? wide.add(cast(type, at)) : at) - inputs.size());
        }
        return wide;
    }

    private int widened(int value) {
        DType type = types.get(value);
        return isShort(type) ? add(cast(type.accumulator(), value)) : value;
    }

    private int add(Region.Step step) {
        types.add(step.op()
                .dtypes(step.arguments().stream().map(types::get).toList())
                .getFirst());
        steps.add(step);
        return types.size() - 1;
    }

    private static Region.Step cast(DType to, int value) {
        return new Region.Step(new Cast(to, false), List.of(value));
    }

    private static boolean isShort(DType type) {
        return type.accumulator() != type;
    }
}
