// Prefix sums in one pass (decoupled look-back), one tile a block, one element a thread. A block publishes its sum, then looks
// back over the blocks before it until it meets one that knows everything up to itself.
#include "../order.h"

enum : unsigned { NOTHING, SUM, PREFIX };
struct Tile {
    unsigned state, sum, prefix;
};

template <memory_order PUBLISH, memory_order LOOK, cuda::thread_scope S, bool FENCED>
__device__ void scan(const unsigned *in, Tile *tiles, unsigned *out)
{
    __shared__ unsigned items[32], before;
    items[threadIdx.x] = in[global_id()];
    __syncthreads();
    unsigned sum = 0;
    for (unsigned k = 0; k <= threadIdx.x; k++)
        sum += items[k];
    if (threadIdx.x == blockDim.x - 1) {
        Tile &mine = tiles[blockIdx.x];
        unsigned found = 0;
        if (blockIdx.x > 0) {
            mine.sum = sum;
            if (FENCED)
                __threadfence();
            word<S>(mine.state).store(SUM, PUBLISH);
            for (unsigned k = blockIdx.x - 1;; k--) {
                unsigned state;
                while ((state = word<S>(tiles[k].state).load(LOOK)) == NOTHING) {
                }
                if (FENCED)
                    __threadfence();
                if (state == PREFIX) {
                    found += tiles[k].prefix;
                    break;
                }
                found += tiles[k].sum;
            }
        }
        mine.prefix = found + sum;
        if (FENCED)
            __threadfence();
        word<S>(mine.state).store(PREFIX, PUBLISH);
        before = found;
    }
    __syncthreads();
    out[global_id()] = before + sum;
}

#define KERNEL(name, publish, look, scope, fenced) \
    extern "C" __global__ void name(const unsigned *in, Tile *tiles, unsigned *out) { scan<publish, look, scope, fenced>(in, tiles, out); }

KERNEL(lookback, release, acquire, device, false)
KERNEL(lookback_relaxed_store, relaxed, acquire, device, false)
KERNEL(lookback_relaxed_load, release, relaxed, device, false)
KERNEL(lookback_block_scope, release, acquire, block, false)
KERNEL(lookback_fences, relaxed, relaxed, device, true)
KERNEL(lookback_no_fences, relaxed, relaxed, device, false)
