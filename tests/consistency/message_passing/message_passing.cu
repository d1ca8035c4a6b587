// Message passing between blocks: the threads of block 0 each write a cell, then one of them sets a flag; in every other block
// one thread waits for the flag, then all read their cell.
#include "../order.h"

template <memory_order SET, memory_order WAIT, cuda::thread_scope S, bool MEET>
__device__ void pass(unsigned *data, unsigned *flag, unsigned *out)
{
    word<S> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 40 + threadIdx.x;
        if (MEET)
            __syncthreads();
        if (threadIdx.x == 0)
            f.store(1, SET);
        out[threadIdx.x] = data[threadIdx.x];
    } else {
        if (threadIdx.x == 0)
            while (f.load(WAIT) == 0) {
            }
        __syncthreads();
        out[global_id()] = data[threadIdx.x];
    }
}

// The same with relaxed accesses and fences.
template <bool BEFORE, bool AFTER>
__device__ void pass_fenced(unsigned *data, unsigned *flag, unsigned *out)
{
    word<device> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = 40 + threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (BEFORE)
                __threadfence();
            f.store(1, relaxed);
        }
        out[threadIdx.x] = data[threadIdx.x];
    } else {
        if (threadIdx.x == 0) {
            while (f.load(relaxed) == 0) {
            }
            if (AFTER)
                __threadfence();
        }
        __syncthreads();
        out[global_id()] = data[threadIdx.x];
    }
}

#define KERNEL(name, call) \
    extern "C" __global__ void name(unsigned *data, unsigned *flag, unsigned *out) { call(data, flag, out); }

KERNEL(mp, (pass<release, acquire, device, true>))
KERNEL(mp_relaxed_store, (pass<relaxed, acquire, device, true>))
KERNEL(mp_relaxed_load, (pass<release, relaxed, device, true>))
KERNEL(mp_block_scope, (pass<release, acquire, block, true>))
KERNEL(mp_no_barrier, (pass<release, acquire, device, false>))
KERNEL(mp_fences, (pass_fenced<true, true>))
KERNEL(mp_no_first_fence, (pass_fenced<false, true>))
KERNEL(mp_no_second_fence, (pass_fenced<true, false>))
