// Kernels for tests/texture.rs: each thread fetches at the coordinates that it reads from a buffer, and writes the four values.
//
// Compiled by NVRTC 13.5: ptx-examples/make/nvrtc.py kernels.cu kernels.ptx sm_80

#define AT unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return
#define FETCH(name, call)                                                                                             \
    extern "C" __global__ void name##_f(cudaTextureObject_t t, const float4 *at, float4 *out, unsigned n)              \
    {                                                                                                                 \
        AT;                                                                                                           \
        float4 c = at[i];                                                                                             \
        out[i] = call(float4);                                                                                        \
    }                                                                                                                 \
    extern "C" __global__ void name##_s(cudaTextureObject_t t, const float4 *at, int4 *out, unsigned n)                \
    {                                                                                                                 \
        AT;                                                                                                           \
        float4 c = at[i];                                                                                             \
        out[i] = call(int4);                                                                                          \
    }                                                                                                                 \
    extern "C" __global__ void name##_u(cudaTextureObject_t t, const float4 *at, uint4 *out, unsigned n)               \
    {                                                                                                                 \
        AT;                                                                                                           \
        float4 c = at[i];                                                                                             \
        out[i] = call(uint4);                                                                                         \
    }

// The layer is the bits of the last coordinate.
#define LAYER __float_as_int(c.w)
#define TEX1D(T) tex1D<T>(t, c.x)
#define TEX2D(T) tex2D<T>(t, c.x, c.y)
#define TEX3D(T) tex3D<T>(t, c.x, c.y, c.z)
#define TEXA1D(T) tex1DLayered<T>(t, c.x, LAYER)
#define TEXA2D(T) tex2DLayered<T>(t, c.x, c.y, LAYER)
#define TEXCUBE(T) texCubemap<T>(t, c.x, c.y, c.z)
#define TEXACUBE(T) texCubemapLayered<T>(t, c.x, c.y, c.z, LAYER)
#define TEXLINEAR(T) tex1Dfetch<T>(t, __float_as_int(c.x))
#define LEVEL(T) tex2DLod<T>(t, c.x, c.y, c.z)
#define GRAD(T) tex2DGrad<T>(t, c.x, c.y, make_float2(c.z, c.w), make_float2(c.w, c.z))
#define GATHER0(T) tex2Dgather<T>(t, c.x, c.y, 0)
#define GATHER1(T) tex2Dgather<T>(t, c.x, c.y, 1)
#define GATHER2(T) tex2Dgather<T>(t, c.x, c.y, 2)
#define GATHER3(T) tex2Dgather<T>(t, c.x, c.y, 3)

FETCH(t1d, TEX1D)
FETCH(t2d, TEX2D)
FETCH(t3d, TEX3D)
FETCH(ta1d, TEXA1D)
FETCH(ta2d, TEXA2D)
FETCH(tcube, TEXCUBE)
FETCH(tacube, TEXACUBE)
FETCH(tlinear, TEXLINEAR)
FETCH(level, LEVEL)
FETCH(grad, GRAD)
FETCH(gather0, GATHER0)
FETCH(gather1, GATHER1)
FETCH(gather2, GATHER2)
FETCH(gather3, GATHER3)

// Whether the texels of a fetch are resident.
extern "C" __global__ void sparse(cudaTextureObject_t t, const float4 *at, float4 *out, unsigned n)
{
    AT;
    bool resident;
    float4 c = at[i], v = tex2D<float4>(t, c.x, c.y, &resident);
    v.w = resident ? 1 : 0;
    out[i] = v;
}

// Surfaces: x counts bytes.
#define SURFACE(T, suffix)                                                                                            \
    extern "C" __global__ void read2d_##suffix(cudaSurfaceObject_t s, const int4 *at, T *out, unsigned n)              \
    {                                                                                                                 \
        AT;                                                                                                           \
        int4 c = at[i];                                                                                               \
        out[3 * i] = surf2Dread<T>(s, c.x * (int)sizeof(T), c.y, cudaBoundaryModeZero);                                \
        out[3 * i + 1] = surf2Dread<T>(s, c.x * (int)sizeof(T), c.y, cudaBoundaryModeClamp);                           \
        if (c.x >= 0 && c.x < c.z && c.y >= 0 && c.y < c.w)                                                           \
            out[3 * i + 2] = surf2Dread<T>(s, c.x * (int)sizeof(T), c.y);                                              \
    }                                                                                                                 \
    extern "C" __global__ void write2d_##suffix(cudaSurfaceObject_t s, const int4 *at, const T *in, unsigned n)        \
    {                                                                                                                 \
        AT;                                                                                                           \
        int4 c = at[i];                                                                                               \
        surf2Dwrite(in[i], s, c.x * (int)sizeof(T), c.y, cudaBoundaryModeZero);                                        \
    }

SURFACE(unsigned char, b8)
SURFACE(ushort2, v2b16)
SURFACE(float, b32)
SURFACE(float4, v4b32)
SURFACE(longlong2, v2b64)
SURFACE(uchar4, v4b8)

// Each texel becomes its number: slices, layers and faces lie one after the other.
extern "C" __global__ void number1d(cudaSurfaceObject_t s, unsigned n)
{
    AT;
    surf1Dwrite(i, s, 4 * i);
}
extern "C" __global__ void number3d(cudaSurfaceObject_t s, unsigned w, unsigned h, unsigned n)
{
    AT;
    surf3Dwrite(i, s, 4 * (i % w), i / w % h, i / (w * h));
}
extern "C" __global__ void numbera1d(cudaSurfaceObject_t s, unsigned w, unsigned n)
{
    AT;
    surf1DLayeredwrite(i, s, 4 * (i % w), i / w);
}
extern "C" __global__ void numbera2d(cudaSurfaceObject_t s, unsigned w, unsigned h, unsigned n)
{
    AT;
    surf2DLayeredwrite(i, s, 4 * (i % w), i / w % h, i / (w * h));
}
extern "C" __global__ void numbercube(cudaSurfaceObject_t s, unsigned w, unsigned n)
{
    AT;
    surfCubemapwrite(i, s, 4 * (i % w), i / w % w, i / (w * w));
}
extern "C" __global__ void numberacube(cudaSurfaceObject_t s, unsigned w, unsigned n)
{
    AT;
    surfCubemapLayeredwrite(i, s, 4 * (i % w), i / w % w, i / (w * w));
}

// What a kernel wrote to a surface, the next one reads through a texture of the same memory.
extern "C" __global__ void invert(cudaTextureObject_t t, cudaSurfaceObject_t s, unsigned w, unsigned h)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
    {
        uchar4 c = tex2D<uchar4>(t, x + .5f, y + .5f);
        surf2Dwrite(make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w), s, 4 * x, y);
    }
}
