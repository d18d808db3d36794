# GDAL with the driver REFS, and the program refs:
#   docker build -t refs . && docker run --rm -v "$PWD:/data" refs refs ls /data/refs.json
# A plugin fits one minor version of GDAL: both stages are the same image.
ARG BASE=ghcr.io/osgeo/gdal:ubuntu-small-3.13.0

FROM ${BASE} AS build
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
        g++ cmake ninja-build libcurl4-openssl-dev libproj-dev libexpat1-dev \
        zlib1g-dev libdeflate-dev libzstd-dev liblz4-dev libblosc-dev libbz2-dev liblzma-dev \
        libsnappy-dev libbrotli-dev libjansson-dev libaec-dev libjpeg-dev libpng-dev libwebp-dev libopenjp2-7-dev libjxl-dev
COPY . /src
RUN cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DREFS_TESTS=OFF \
    && cmake --build /build \
    && DESTDIR=/out cmake --install /build --component plugin --strip \
    && DESTDIR=/out cmake --install /build --component tool --strip
# The packages of the libraries that both were linked with; those of the image itself are there.
RUN readelf -d /build/refs /build/gdalplugins/gdal_REFS.so | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/*\/\1/p' | sort -u \
    | xargs -n 1 dpkg -S 2>/dev/null | cut -d: -f1 | sort -u >/out/packages

FROM ${BASE}
COPY --from=build /out/ /
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive xargs apt-get install -qq -y --no-install-recommends </packages \
    && rm -rf /packages /var/lib/apt/lists/*
