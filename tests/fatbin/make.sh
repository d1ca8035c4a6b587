#!/bin/sh
# Makes the binaries of this folder: sh make.sh PATH-TO-NVCC (13.5; the wheels nvidia-cuda-nvcc and nvidia-cuda-runtime have it) and gcc.
# The tests read what lies here, so that they need neither; run it where a new nvcc writes another form.
set -eu
cd "$(dirname "$0")"
nvcc=$1
ptx80="-gencode arch=compute_80,code=compute_80"
ptx90="-gencode arch=compute_90,code=compute_90"
sass80="-gencode arch=compute_80,code=sm_80"
$nvcc -fatbin $ptx80 $ptx90 -compress-mode none saxpy.cu -o none.fatbin
$nvcc -fatbin $ptx80 $ptx90 -compress-mode speed saxpy.cu -o lz4.fatbin
$nvcc -fatbin $ptx80 $ptx90 -compress-mode balance saxpy.cu -o zstd.fatbin
$nvcc -fatbin $ptx80 $ptx90 -concat saxpy.cu -o concat.fatbin
$nvcc -fatbin $sass80 $ptx80 $ptx90 saxpy.cu -o mixed.fatbin
$nvcc -fatbin $sass80 saxpy.cu -o sass.fatbin
$nvcc -cubin -arch=sm_80 saxpy.cu -o sass.cubin
$nvcc -fatbin -gencode arch=compute_80,code=lto_80 saxpy.cu -o lto.fatbin
$nvcc -c $ptx80 saxpy.cu -o object.o
strip -g object.o
$nvcc -c -rdc=true $ptx80 saxpy.cu -o rdc.o
# A program of two files; stubs.c stands for the runtime, which is 1 MB.
$nvcc -c $ptx80 main.cu -o main.o
$nvcc -c $ptx80 other.cu -o other.o
gcc -w -s -o app main.o other.o stubs.c -lstdc++
rm main.o other.o
