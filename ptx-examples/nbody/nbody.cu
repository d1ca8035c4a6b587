// Gravity between all pairs: tiles of bodies pass through shared memory as float4 (x, y, z, mass).
extern "C" __global__ void nbody(const float4 *body, float4 *accel, int n, float soft2)
{
    __shared__ float4 tile[64];
    float4 me = body[blockIdx.x * blockDim.x + threadIdx.x];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += 64) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 64; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + soft2);
            float f = other.w * inv * inv * inv;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    accel[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(ax, ay, az, 0.0f);
}
