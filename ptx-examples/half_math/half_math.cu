// Half precision and bfloat16: conversions, fused multiply-adds on one and on two values at
// once, comparisons, and an atomic addition of two halves.
#include <cuda_fp16.h>
#if __CUDA_ARCH__ >= 800
#include <cuda_bf16.h>
#endif

extern "C" __global__ void half_scalar(const float *in, __half *out, float *back)
{
    int i = threadIdx.x;
    __half h = __float2half_rn(in[i]);
    __half g = __hfma(h, h, __float2half(0.5f));
    out[i] = __hgt(g, h) ? __hsub(g, h) : __hneg(h);
    back[i] = __half2float(g);
}

extern "C" __global__ void half_pairs(const __half2 *a, const __half2 *b, __half2 *out, __half2 *sum)
{
    int i = threadIdx.x;
    __half2 p = __hfma2(a[i], b[i], a[i]);
    out[i] = __hadd2(p, __lowhigh2highlow(b[i]));
    atomicAdd(sum, __float2half2_rn(1.0f));
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void bfloat(const __nv_bfloat16 *a, __nv_bfloat16 *out, float *back)
{
    int i = threadIdx.x;
    __nv_bfloat16 x = a[i];
    out[i] = __hfma(x, x, __float2bfloat16(-1.0f));
    back[i] = __bfloat162float(x);
}
#endif
