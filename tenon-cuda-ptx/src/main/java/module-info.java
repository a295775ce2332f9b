/** PTX of every kernel, for machines with a driver and nothing that compiles kernels. */
module dev.tenon.cuda.ptx {
    requires static org.jspecify;
    requires dev.tenon.cuda;

    provides dev.tenon.cuda.compile.PtxBundle with
            dev.tenon.cuda.ptx.PtxFiles;
}
