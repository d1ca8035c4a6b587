// Sum of an array: each block folds its part in shared memory, halving the number of active
// threads at each step, and writes one partial sum. The blocks' sums are independent.
extern "C" __global__ void reduce(const float *in, float *out, unsigned n)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    part[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
