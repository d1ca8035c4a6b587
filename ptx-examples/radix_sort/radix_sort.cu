// Least-significant-digit radix sort of 16-bit keys, four bits at a time: three launches per
// digit. `count` makes one histogram per block, `offsets` turns the histograms into positions
// (one block), `scatter` moves each key stably; match.any finds equal digits inside a warp.
constexpr int DIGITS = 16;

extern "C" __global__ void count(const unsigned *in, unsigned *hist, int shift)
{
    __shared__ unsigned h[DIGITS];
    if (threadIdx.x < DIGITS)
        h[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&h[in[blockIdx.x * blockDim.x + threadIdx.x] >> shift & 15], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        hist[threadIdx.x * gridDim.x + blockIdx.x] = h[threadIdx.x];
}

// Exclusive prefix sum of the 64 counts, digit-major: one warp, two counts per lane.
extern "C" __global__ void offsets(unsigned *hist)
{
    unsigned lane = threadIdx.x;
    unsigned a = hist[2 * lane], b = hist[2 * lane + 1];
    unsigned sum = a + b;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d)
            sum += left;
    }
    hist[2 * lane] = sum - a - b;
    hist[2 * lane + 1] = sum - b;
}

extern "C" __global__ void scatter(const unsigned *in, unsigned *out, const unsigned *hist, int shift)
{
    __shared__ unsigned warps[8][DIGITS]; // keys with this digit in each warp
    unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (lane < DIGITS)
        warps[warp][lane] = 0;
    __syncwarp();
    unsigned key = in[blockIdx.x * blockDim.x + t];
    unsigned digit = key >> shift & 15;
    unsigned same = __match_any_sync(0xffffffffu, digit);
    unsigned rank = __popc(same & ((1u << lane) - 1));
    if (rank == 0)
        warps[warp][digit] = __popc(same);
    __syncthreads();
    for (unsigned w = 0; w < warp; w++)
        rank += warps[w][digit];
    out[hist[digit * gridDim.x + blockIdx.x] + rank] = key;
}
