package dev.tenon.nativelib.cudnn;

/** Values of the enums of {@code cudnn_graph.h}, named as there without their common prefixes. */
public final class CudnnConstants {
    public static final int DATA_FLOAT = 0;
    public static final int DATA_HALF = 2;
    public static final int DATA_INT32 = 4;
    public static final int DATA_BFLOAT16 = 9;
    public static final int DATA_BOOLEAN = 11;

    public static final int CROSS_CORRELATION = 1;
    public static final int POINTWISE_ADD = 0;
    public static final int POINTWISE_MUL = 1;
    public static final int POINTWISE_DIV = 6;
    public static final int POINTWISE_SUB = 9;
    public static final int POINTWISE_EXP = 13;
    public static final int POINTWISE_LOG = 15;
    public static final int POINTWISE_RELU_FWD = 100;
    public static final int POINTWISE_CMP_GE = 303;
    public static final int POINTWISE_GEN_INDEX = 501;
    public static final int POINTWISE_BINARY_SELECT = 601;
    public static final int REDUCE_ADD = 0;
    public static final int REDUCE_MAX = 3;
    public static final int PROPAGATE_NAN = 1;

    public static final int HEUR_MODE_FALLBACK = 2;
    public static final int HEUR_MODE_A = 3;

    public static final int NOTE_TENSOR_CORE = 0;
    public static final int NOTE_DOWN_CONVERT_INPUTS = 1;
    public static final int NOTE_REDUCED_PRECISION_REDUCTION = 2;
    public static final int NOTE_FFT = 3;
    public static final int NOTE_NONDETERMINISTIC = 4;
    public static final int NOTE_WINOGRAD = 5;
    public static final int NOTE_WINOGRAD_TILE_13X13 = 8;
    public static final int NOTE_TYPE_COUNT = 10;

    public static final int TYPE_HANDLE = 0;
    public static final int TYPE_DATA_TYPE = 1;
    public static final int TYPE_BOOLEAN = 2;
    public static final int TYPE_INT64 = 3;
    public static final int TYPE_FLOAT = 4;
    public static final int TYPE_VOID_PTR = 6;
    public static final int TYPE_CONVOLUTION_MODE = 7;
    public static final int TYPE_HEUR_MODE = 8;
    public static final int TYPE_NAN_PROPAGATION = 10;
    public static final int TYPE_NUMERICAL_NOTE = 11;
    public static final int TYPE_POINTWISE_MODE = 14;
    public static final int TYPE_BACKEND_DESCRIPTOR = 15;
    public static final int TYPE_REDUCTION_OPERATOR = 18;

    public static final int POINTWISE_DESCRIPTOR = 0;
    public static final int CONVOLUTION_DESCRIPTOR = 1;
    public static final int ENGINE_DESCRIPTOR = 2;
    public static final int ENGINECFG_DESCRIPTOR = 3;
    public static final int ENGINEHEUR_DESCRIPTOR = 4;
    public static final int EXECUTION_PLAN_DESCRIPTOR = 5;
    public static final int OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR = 10;
    public static final int OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR = 12;
    public static final int OPERATION_POINTWISE_DESCRIPTOR = 13;
    public static final int OPERATIONGRAPH_DESCRIPTOR = 15;
    public static final int VARIANT_PACK_DESCRIPTOR = 16;
    public static final int TENSOR_DESCRIPTOR = 17;
    public static final int MATMUL_DESCRIPTOR = 18;
    public static final int OPERATION_MATMUL_DESCRIPTOR = 19;
    public static final int REDUCTION_DESCRIPTOR = 21;
    public static final int OPERATION_REDUCTION_DESCRIPTOR = 22;

    public static final int POINTWISE_MODE = 0;
    public static final int POINTWISE_MATH_PREC = 1;
    public static final int POINTWISE_NAN_PROPAGATION = 2;
    public static final int POINTWISE_AXIS = 9;
    public static final int CONVOLUTION_COMP_TYPE = 100;
    public static final int CONVOLUTION_CONV_MODE = 101;
    public static final int CONVOLUTION_DILATIONS = 102;
    public static final int CONVOLUTION_FILTER_STRIDES = 103;
    public static final int CONVOLUTION_POST_PADDINGS = 104;
    public static final int CONVOLUTION_PRE_PADDINGS = 105;
    public static final int CONVOLUTION_SPATIAL_DIMS = 106;
    public static final int ENGINEHEUR_MODE = 200;
    public static final int ENGINEHEUR_OPERATION_GRAPH = 201;
    public static final int ENGINEHEUR_RESULTS = 202;
    public static final int ENGINECFG_ENGINE = 300;
    public static final int EXECUTION_PLAN_HANDLE = 400;
    public static final int EXECUTION_PLAN_ENGINE_CONFIG = 401;
    public static final int EXECUTION_PLAN_WORKSPACE_SIZE = 402;
    public static final int CONVOLUTION_FORWARD_ALPHA = 700;
    public static final int CONVOLUTION_FORWARD_BETA = 701;
    public static final int CONVOLUTION_FORWARD_CONV_DESC = 702;
    public static final int CONVOLUTION_FORWARD_W = 703;
    public static final int CONVOLUTION_FORWARD_X = 704;
    public static final int CONVOLUTION_FORWARD_Y = 705;
    public static final int CONVOLUTION_BWD_DATA_ALPHA = 706;
    public static final int CONVOLUTION_BWD_DATA_BETA = 707;
    public static final int CONVOLUTION_BWD_DATA_CONV_DESC = 708;
    public static final int CONVOLUTION_BWD_DATA_W = 709;
    public static final int CONVOLUTION_BWD_DATA_DX = 710;
    public static final int CONVOLUTION_BWD_DATA_DY = 711;
    public static final int OPERATION_POINTWISE_PW_DESCRIPTOR = 750;
    public static final int OPERATION_POINTWISE_XDESC = 751;
    public static final int OPERATION_POINTWISE_BDESC = 752;
    public static final int OPERATION_POINTWISE_YDESC = 753;
    public static final int OPERATION_POINTWISE_TDESC = 758;
    public static final int OPERATIONGRAPH_HANDLE = 800;
    public static final int OPERATIONGRAPH_OPS = 801;
    public static final int TENSOR_BYTE_ALIGNMENT = 900;
    public static final int TENSOR_DATA_TYPE = 901;
    public static final int TENSOR_DIMENSIONS = 902;
    public static final int TENSOR_STRIDES = 903;
    public static final int TENSOR_UNIQUE_ID = 906;
    public static final int TENSOR_IS_VIRTUAL = 907;
    public static final int TENSOR_IS_BY_VALUE = 908;
    public static final int VARIANT_PACK_UNIQUE_IDS = 1000;
    public static final int VARIANT_PACK_DATA_POINTERS = 1001;
    public static final int VARIANT_PACK_WORKSPACE = 1003;
    public static final int ENGINE_NUMERICAL_NOTE = 1303;
    public static final int MATMUL_COMP_TYPE = 1500;
    public static final int OPERATION_MATMUL_ADESC = 1520;
    public static final int OPERATION_MATMUL_BDESC = 1521;
    public static final int OPERATION_MATMUL_CDESC = 1522;
    public static final int OPERATION_MATMUL_DESC = 1523;
    public static final int REDUCTION_OPERATOR = 1600;
    public static final int REDUCTION_COMP_TYPE = 1601;
    public static final int OPERATION_REDUCTION_XDESC = 1610;
    public static final int OPERATION_REDUCTION_YDESC = 1611;
    public static final int OPERATION_REDUCTION_DESC = 1612;

    private CudnnConstants() {}
}
