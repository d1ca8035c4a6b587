// Breadth-first search, one launch per level. The frontier is a queue; a vertex enters the next
// queue by the thread whose compare-and-swap set its distance, so the order inside a queue
// depends on the schedule and the distances do not.
extern "C" __global__ void bfs_level(const int *ptr, const int *adj, int *dist, const int *queue, int *next,
                                     int *counts, int level)
{
    int n = counts[level];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int v = queue[i];
        for (int e = ptr[v]; e < ptr[v + 1]; e++) {
            int w = adj[e];
            if (atomicCAS(&dist[w], -1, level + 1) == -1)
                next[atomicAdd(&counts[level + 1], 1)] = w;
        }
    }
}
