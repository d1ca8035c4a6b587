// A sequence lock: thread 0 of block 0 writes two words that belong together, `rounds` times; every thread of the other blocks
// reads them until it got both from one round. All accesses are atomic, so that nothing races: errors show in what is read.
#include "../order.h"

struct Pair {
    unsigned sequence, left, right;
};

template <cuda::thread_scope S> __device__ void fence(memory_order order) { cuda::atomic_thread_fence(order, S); }

template <memory_order FIRST, memory_order LAST, cuda::thread_scope S, bool WRITER, bool READER>
__device__ void share(Pair *pair, unsigned rounds, unsigned *out)
{
    word<S> sequence(pair->sequence), left(pair->left), right(pair->right);
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0)
            for (unsigned k = 1; k <= rounds; k++) {
                sequence.store(2 * k - 1, relaxed);
                if (WRITER)
                    fence<S>(release);
                left.store(k, relaxed);
                right.store(k, relaxed);
                sequence.store(2 * k, LAST);
            }
        out[threadIdx.x] = 1;
    } else {
        unsigned before, after, l, r;
        do {
            before = sequence.load(FIRST);
            l = left.load(relaxed);
            r = right.load(relaxed);
            if (READER)
                fence<S>(acquire);
            after = sequence.load(relaxed);
        } while (before != after || before % 2 != 0);
        out[global_id()] = l == r && 2 * l == before;
    }
}

#define KERNEL(name, first, last, scope, writer, reader) \
    extern "C" __global__ void name(Pair *pair, unsigned rounds, unsigned *out) { share<first, last, scope, writer, reader>(pair, rounds, out); }

KERNEL(seqlock, acquire, release, device, true, true)
KERNEL(seqlock_relaxed_first, relaxed, release, device, true, true)
KERNEL(seqlock_relaxed_last, acquire, relaxed, device, true, true)
KERNEL(seqlock_block_scope, acquire, release, block, true, true)
KERNEL(seqlock_no_writer_fence, acquire, release, device, false, true)
KERNEL(seqlock_no_reader_fence, acquire, release, device, true, false)
