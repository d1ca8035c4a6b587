// Tiled matrix product of square matrices: each block keeps one tile of a and one of b in
// shared memory, with two barriers per tile. n is a multiple of the tile's width.
constexpr int T = 16;

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[T][T], tb[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * T + x, row = blockIdx.y * T + y;
    float sum = 0.0f;
    for (int t = 0; t < n; t += T) {
        ta[y][x] = a[row * n + t + x];
        tb[y][x] = b[(t + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
