// One step of k-means in the plane: assign each point to its nearest centre and add it to that
// centre's sums (shared atomics first, then global ones); a second launch divides.
// The points have small integer coordinates, so every sum is exact in any order.
constexpr int K = 5;

extern "C" __global__ void assign(const float2 *point, const float2 *centre, int *label, float *sum, int *size, int n)
{
    __shared__ float sx[K], sy[K];
    __shared__ int count[K];
    if (threadIdx.x < K) {
        sx[threadIdx.x] = sy[threadIdx.x] = 0.0f;
        count[threadIdx.x] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float2 p = point[i];
        int best = 0;
        float least = 1e30f;
        for (int k = 0; k < K; k++) {
            float dx = p.x - centre[k].x, dy = p.y - centre[k].y;
            float d = dx * dx + dy * dy;
            if (d < least) {
                least = d;
                best = k;
            }
        }
        label[i] = best;
        atomicAdd(&sx[best], p.x);
        atomicAdd(&sy[best], p.y);
        atomicAdd(&count[best], 1);
    }
    __syncthreads();
    if (threadIdx.x < K) {
        atomicAdd(&sum[2 * threadIdx.x], sx[threadIdx.x]);
        atomicAdd(&sum[2 * threadIdx.x + 1], sy[threadIdx.x]);
        atomicAdd(&size[threadIdx.x], count[threadIdx.x]);
    }
}

extern "C" __global__ void update(float2 *centre, const float *sum, const int *size)
{
    int k = threadIdx.x;
    if (size[k] > 0)
        centre[k] = make_float2(sum[2 * k] / size[k], sum[2 * k + 1] / size[k]);
}
