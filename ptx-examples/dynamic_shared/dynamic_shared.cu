// Shared memory whose size the launch gives: two arrays carved out of one extern array, one of
// doubles and one of bytes, besides a static one.
extern __shared__ double dynamic[];

extern "C" __global__ void dynamic_shared(const double *in, double *out, unsigned char *rank)
{
    __shared__ int total;
    int t = threadIdx.x, n = blockDim.x;
    double *value = dynamic;
    unsigned char *less = (unsigned char *)(dynamic + n);
    value[t] = in[blockIdx.x * n + t];
    less[t] = 0;
    if (t == 0)
        total = 0;
    __syncthreads();
    for (int j = 0; j < n; j++)
        if (value[j] < value[t] || (value[j] == value[t] && j < t))
            less[t]++;
    __syncthreads();
    out[blockIdx.x * n + less[t]] = value[t]; // sorted by rank
    atomicAdd(&total, int(less[t]));
    __syncthreads();
    rank[blockIdx.x * n + t] = less[n - 1 - t] + (total == n * (n - 1) / 2 ? 0 : 100);
}
