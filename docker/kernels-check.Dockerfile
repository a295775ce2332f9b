# Compiles every kernel through a real NVRTC, without a GPU:   docker build -f docker/kernels-check.Dockerfile .
# The build fails where a kernel does not compile. (Written without a container engine at hand: not yet built anywhere.)
FROM eclipse-temurin:25-jdk-noble AS jdk

FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
COPY --from=jdk /opt/java/openjdk /opt/jdk
ENV JAVA_HOME=/opt/jdk
RUN apt-get update && apt-get install -y --no-install-recommends maven && rm -rf /var/lib/apt/lists/*
WORKDIR /tenon
COPY . .
# one layer for the build (libraries from Maven Central), so that only the check is repeated with other architectures
RUN ./tenon --version
# nvcc is in the image too: hidden, or it would serve where NVRTC is not found
RUN TENON_HIDE_LIBRARIES=nvcc ./tenon kernels check --require --arch sm_75,sm_80,sm_86,sm_89,sm_90,sm_100,sm_120
