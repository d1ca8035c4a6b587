// Inclusive prefix sum inside each warp by shuffles; the 64-bit version moves two words per step.
extern "C" __global__ void scan_warp32(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += left;
    }
    out[i] = v;
}

extern "C" __global__ void scan_warp64(const long long *in, long long *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    long long v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        long long left = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += left;
    }
    out[i] = v;
}
