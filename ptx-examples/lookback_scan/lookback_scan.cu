// Inclusive prefix sum of a whole array in one pass (decoupled look-back). Each block takes the
// next tile from a counter, publishes the sum of its tile, then its first warp looks back over
// the tiles before it, 32 at a time, until it meets one whose whole prefix is known. A block
// waits only for tiles taken earlier, so it needs those blocks to make progress and no others.
// Value and state of a tile share one 64-bit word, so that they change together.
enum : unsigned long long { EMPTY = 0, SUM = 1ull << 32, PREFIX = 2ull << 32 };

extern "C" __global__ void lookback_scan(const unsigned *in, unsigned *out, unsigned long long *state, unsigned *ticket)
{
    __shared__ unsigned s[128], tile, before;
    unsigned t = threadIdx.x;
    if (t == 0)
        tile = atomicAdd(ticket, 1u);
    __syncthreads();
    unsigned i = tile * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        unsigned left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    unsigned total = s[blockDim.x - 1];

    if (t < 32) {
        if (t == 0)
            atomicExch(&state[tile], (tile == 0 ? PREFIX : SUM) | total);
        unsigned sum = 0;
        for (int last = int(tile) - 1; last >= 0; last -= 32) {
            int mine = last - int(t); // lane 0 looks at the nearest tile
            unsigned long long word = mine < 0 ? PREFIX : EMPTY;
            while (__any_sync(0xffffffffu, word == EMPTY))
                if (word == EMPTY)
                    word = atomicAdd(&state[mine], 0ull);
            unsigned prefixes = __ballot_sync(0xffffffffu, (word & PREFIX) != 0);
            int stop = prefixes ? __ffs(prefixes) - 1 : 31; // the nearest known prefix ends the sum
            unsigned part = int(t) <= stop ? unsigned(word) : 0;
            for (int d = 16; d > 0; d /= 2)
                part += __shfl_xor_sync(0xffffffffu, part, d);
            sum += part;
            if (prefixes)
                break;
        }
        if (t == 0) {
            if (tile > 0)
                atomicExch(&state[tile], PREFIX | (unsigned)(sum + total));
            before = sum;
        }
    }
    __syncthreads();
    out[i] = before + s[t];
}
