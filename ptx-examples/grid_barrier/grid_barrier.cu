// A barrier of the whole grid made of atomics: the last thread to arrive opens the next
// generation. All blocks must be resident at once. Each round adds the two neighbours' values
// of the round before, so a block reads what other blocks wrote.
__device__ void grid_sync(unsigned *arrived, unsigned *generation)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned now = atomicAdd(generation, 0u);
        __threadfence();
        if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
            atomicExch(arrived, 0u);
            __threadfence();
            atomicAdd(generation, 1u);
        } else {
            while (atomicAdd(generation, 0u) == now)
                ;
        }
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void grid_barrier(unsigned *a, unsigned *b, unsigned *arrived, unsigned *generation, int rounds)
{
    unsigned n = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        b[i] = a[i] + a[(i + 1) % n] + a[(i + n - 1) % n];
        grid_sync(arrived, generation);
        unsigned *c = a;
        a = b;
        b = c;
    }
}
