// Enlarges a part of a picture: a texture gives the blend of the four texels around a place, and a surface takes the result.
// Beyond its edges the picture goes on as it ends there.
extern "C" __global__ void zoom(cudaTextureObject_t picture, cudaSurfaceObject_t view, int width, int height,
                                float left, float top, float step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float4 c = tex2D<float4>(picture, left + (x + 0.5f) * step, top + (y + 0.5f) * step);
    uchar4 bytes = make_uchar4(__float2uint_rn(c.x * 255), __float2uint_rn(c.y * 255), __float2uint_rn(c.z * 255), 255);
    surf2Dwrite(bytes, view, x * (int)sizeof(uchar4), y);
}
