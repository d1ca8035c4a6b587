// An array per thread with computed indices, hence in local memory: each thread sorts its own
// sixteen keys by insertion and then follows them as a permutation.
extern "C" __global__ void local_arrays(const int *in, int *sorted, int *visited)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int key[16], seen[16];
    for (int i = 0; i < 16; i++) {
        int v = in[16 * t + i], j = i;
        while (j > 0 && key[j - 1] > v) {
            key[j] = key[j - 1];
            j--;
        }
        key[j] = v;
    }
    for (int i = 0; i < 16; i++) {
        sorted[16 * t + i] = key[i];
        seen[i] = 0;
    }
    int steps = 0;
    for (int at = t % 16; !seen[at]; at = (key[at] + at) & 15) {
        seen[at] = 1;
        steps++;
    }
    visited[t] = steps;
}
