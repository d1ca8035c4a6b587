// Keep the elements that pass a test. Each warp counts its keepers with a ballot, and one lane
// reserves room for all of them with a single atomic. The order of the warps' parts in the
// output depends on the schedule.
extern "C" __global__ void warp_aggregated(const int *in, int *out, int *count, int n, int least)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int v = i < n ? in[i] : 0;
    bool keep = i < n && v >= least;
    unsigned keepers = __ballot_sync(0xffffffffu, keep);
    if (keepers == 0)
        return;
    int leader = __ffs(keepers) - 1;
    int base = 0;
    if (lane == leader)
        base = atomicAdd(count, __popc(keepers));
    base = __shfl_sync(0xffffffffu, base, leader);
    if (keep)
        out[base + __popc(keepers & ((1u << lane) - 1))] = v;
}
