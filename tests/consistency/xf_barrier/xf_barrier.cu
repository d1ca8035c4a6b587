// A barrier of the whole grid after Xiao and Feng: block 0 leads, its thread n watches over block n + 1, whose thread 0 speaks
// for it. Every thread writes a cell, passes the barrier and adds up the cells of all. Needs at least as many threads in a
// block as there are other blocks, and that all blocks are resident.
#include "../order.h"

template <memory_order HEAR, memory_order ANSWER, memory_order ARRIVE, memory_order LEAVE>
__device__ void meet(unsigned *flags)
{
    if (blockIdx.x == 0) {
        bool leads = threadIdx.x + 1 < gridDim.x;
        word<device> flag(flags[leads ? threadIdx.x + 1 : 0]);
        if (leads)
            while (flag.load(HEAR) == 0) {
            }
        __syncthreads();
        if (leads)
            flag.store(0, ANSWER);
    } else {
        __syncthreads();
        if (threadIdx.x == 0) {
            word<device> flag(flags[blockIdx.x]);
            flag.store(1, ARRIVE);
            while (flag.load(LEAVE) == 1) {
            }
        }
        __syncthreads();
    }
}

template <memory_order HEAR, memory_order ANSWER, memory_order ARRIVE, memory_order LEAVE>
__device__ void sum(unsigned *flags, unsigned *cells, unsigned *sums)
{
    cells[global_id()] = 1;
    meet<HEAR, ANSWER, ARRIVE, LEAVE>(flags);
    unsigned sum = 0;
    for (unsigned k = 0; k < gridDim.x * blockDim.x; k++)
        sum += cells[k];
    sums[global_id()] = sum;
}

#define KERNEL(name, hear, answer, arrive, leave) \
    extern "C" __global__ void name(unsigned *flags, unsigned *cells, unsigned *sums) { sum<hear, answer, arrive, leave>(flags, cells, sums); }

KERNEL(xf_barrier, acquire, release, release, acquire)
KERNEL(xf_barrier_acq2rx_1, relaxed, release, release, acquire)
KERNEL(xf_barrier_acq2rx_2, acquire, release, release, relaxed)
KERNEL(xf_barrier_rel2rx_1, acquire, relaxed, release, acquire)
KERNEL(xf_barrier_rel2rx_2, acquire, release, relaxed, acquire)
