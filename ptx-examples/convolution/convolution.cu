// Row convolution with the filter in constant memory and a halo in shared memory. A template,
// so the kernel's name in the PTX is a mangled one.
__constant__ float filter[9];

template <int R> __global__ void convolve(const float *in, float *out, int w)
{
    __shared__ float row[128 + 2 * R];
    const float *line = in + blockIdx.y * w;
    int x0 = blockIdx.x * blockDim.x;
    for (int i = threadIdx.x; i < blockDim.x + 2 * R; i += blockDim.x) {
        int x = x0 + i - R;
        row[i] = x >= 0 && x < w ? line[x] : 0.0f;
    }
    __syncthreads();
    int x = x0 + threadIdx.x;
    if (x < w) {
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k <= 2 * R; k++)
            sum += filter[k] * row[threadIdx.x + k];
        out[blockIdx.y * w + x] = sum;
    }
}

template __global__ void convolve<4>(const float *, float *, int);
