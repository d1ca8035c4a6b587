// Cooperative groups: sums over tiles of 32 and of 8 threads, a scan, the group of the threads
// that take a branch, and a block-wide barrier between the two levels of the sum.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reduce_cg(const int *in, int *out, int *tile8, int *scan, unsigned *odd)
{
    __shared__ int part[8];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> octet = cg::tiled_partition<8>(block);
    int i = blockIdx.x * blockDim.x + block.thread_rank();
    int v = in[i];

    int sum8 = cg::reduce(octet, v, cg::plus<int>());
    if (octet.thread_rank() == 0)
        tile8[i / 8] = sum8;
    scan[i] = cg::inclusive_scan(octet, v);

    if (v & 1) { // one atomic for all the threads of the warp that came here together
        cg::coalesced_group here = cg::coalesced_threads();
        if (here.thread_rank() == 0)
            atomicAdd(odd, here.size());
    }

    int sum = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0)
        part[warp.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (unsigned w = 0; w < warp.meta_group_size(); w++)
            sum += part[w];
        out[blockIdx.x] = sum;
    }
}
