// Inclusive prefix sum inside a block (Hillis and Steele): log2(n) steps with two barriers each.
extern "C" __global__ void scan_block(const int *in, int *out)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = s[t];
}
