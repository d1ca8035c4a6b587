#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A histogram in the shared memory of a cluster: threads arrive, prepare what is next, and wait.
extern "C" __global__ void __cluster_dims__(1, 1, 1) histogram(const unsigned *values, unsigned count, unsigned *bins) {
    __shared__ unsigned counts[64];
    cg::cluster_group cluster = cg::this_cluster();
    for (unsigned bin = threadIdx.x; bin < 64; bin += blockDim.x) counts[bin] = 0;
    auto token = cluster.barrier_arrive();
    unsigned at = cluster.block_rank() * blockDim.x + threadIdx.x;
    unsigned mine = at < count ? values[at] % (64 * cluster.num_blocks()) : 0;
    cluster.barrier_wait(std::move(token));
    unsigned *theirs = cluster.map_shared_rank(counts, mine / 64);
    if (at < count) atomicAdd(theirs + mine % 64, 1);
    cluster.sync();
    for (unsigned bin = threadIdx.x; bin < 64; bin += blockDim.x) bins[cluster.block_rank() * 64 + bin] = counts[bin];
}
