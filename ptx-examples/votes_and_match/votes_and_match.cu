// Votes, matches and masks: all lanes, a part of the warp, and both sides of a branch.
extern "C" __global__ void votes(const int *in, unsigned *out)
{
    int t = threadIdx.x;
    int v = in[t];
    unsigned *o = out + 8 * t;
    o[0] = __ballot_sync(0xffffffffu, v > 2);
    o[1] = __any_sync(0xffffffffu, v == 5) + 2 * __all_sync(0xffffffffu, v < 8);
    if (t % 32 < 20) {
        o[2] = __ballot_sync(0x000fffffu, v & 1);
        o[3] = __all_sync(0x000fffffu, v >= 0);
    } else {
        o[2] = __ballot_sync(0xfff00000u, v & 2);
        o[3] = __any_sync(0xfff00000u, v == 7);
    }
    __syncwarp();
    unsigned m = __ballot_sync(0xffffffffu, v < 4);
    if (v < 4)
        o[4] = __shfl_sync(m, v * 10 + t, __ffs(m) - 1);
    else
        o[4] = __popc(m);
    __syncwarp();
#if __CUDA_ARCH__ >= 700
    int pred;
    o[5] = __match_any_sync(0xffffffffu, v);
    o[6] = __match_all_sync(0xffffffffu, v / 8, &pred);
    o[7] = pred + 2 * (__match_any_sync(0xffffffffu, (long long)v << 40) == o[5]);
#endif
}
