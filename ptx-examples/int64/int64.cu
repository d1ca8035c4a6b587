// 64-bit integers: products with their upper half, division and remainder (signed, unsigned and
// by a constant), shifts, bit counts, and a 128-bit product.
typedef long long s64;
typedef unsigned long long u64;

extern "C" __global__ void int64(const s64 *a, const s64 *b, s64 *out)
{
    int i = threadIdx.x;
    s64 x = a[i], y = b[i];
    s64 *o = out + 12 * i;
    o[0] = x + y;
    o[1] = x * y;
    o[2] = __mul64hi(x, y);
    o[3] = __umul64hi(x, y);
    o[4] = x / y;
    o[5] = x % y;
    o[6] = u64(x) / u64(y);
    o[7] = u64(x) % u64(y);
    o[8] = x / 1000;
    o[9] = (x << (i % 64)) ^ (x >> (i % 7)) ^ s64(u64(x) >> (i % 11));
    o[10] = __popcll(x) + 100 * __clzll(y) + 10000 * __ffsll(x);
    unsigned __int128 p = (unsigned __int128)u64(x) * u64(y) + u64(i);
    o[11] = s64(u64(p >> 37));
}
