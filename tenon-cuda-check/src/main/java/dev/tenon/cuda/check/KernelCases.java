package dev.tenon.cuda.check;

import java.util.ArrayList;
import java.util.List;

/** Every case of every kernel. */
public final class KernelCases {
    private KernelCases() {}

    public static List<KernelCase> all() {
        List<KernelCase> all = new ArrayList<>(RowCases.all());
        all.addAll(HandedRowCases.all());
        all.addAll(ResidualNormCases.all());
        all.addAll(RaggedAttentionCases.all());
        all.addAll(MatMulCases.all());
        all.addAll(ProductCases.all());
        all.addAll(AttentionCases.all());
        all.addAll(EpilogueCases.all());
        all.addAll(StepCases.all());
        all.addAll(IndexingCases.all());
        all.addAll(PackedCases.all());
        all.addAll(StateCases.all());
        all.addAll(WindowCases.all());
        all.addAll(ConvCases.all());
        all.addAll(ConvCases.warpgroups());
        all.addAll(RivalCases.all());
        all.addAll(ChannelCases.all());
        all.addAll(FewChannelsCases.all());
        all.addAll(MendCases.all());
        all.addAll(RegionCases.all());
        all.addAll(RowRegionCases.all());
        all.addAll(UnaryCases.all());
        return List.copyOf(all);
    }
}
