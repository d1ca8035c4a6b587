"""What `mock.patch` makes of tinygrad's mocks: memory outside of allocations is found, the launch fails with a word, the next one runs.

    cd tinygrad && patch -p1 < mock.patch
    OCELOT_PATH=libwarpstep_ptx.so WARPSTEP_ON_DEFECT=continue DEV=MOCK+CUDA:PTX PYTHONPATH=. python patched_mock.py
    OCELOT_PATH=libwarpstep_ptx.so WARPSTEP_ON_DEFECT=continue DEV=MOCK+NV:PTX PYTHONPATH=. python patched_mock.py
"""

import unittest

from test.mockgpu import helpers
from tinygrad import Device, Tensor


class Patched(unittest.TestCase):
    def test_the_device_has_tensor_cores(self):
        self.assertEqual(Device[Device.DEFAULT].arch, "sm_86")
        self.assertTrue(Device[Device.DEFAULT].renderer.tensor_cores)

    def test_after_a_launch_that_failed_the_next_one_runs(self):
        x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
        buffer = x.uop.base.buffer._buf
        address, size = (buffer.va_addr, buffer.size) if hasattr(buffer, "va_addr") else (buffer.value, 16)
        for factor in (2.0, 3.0, 4.0):
            # As if it had been freed.
            self.assertEqual(helpers.ptx_unregister(address), 0)
            with self.assertRaisesRegex(RuntimeError, "invalid global read|CUDA_ERROR_LAUNCH_FAILED"):
                (x + factor).tolist()
            self.assertIn(b"invalid global read", helpers.ptx_last_error())
            self.assertEqual(helpers.ptx_register(address, size), 0)
            self.assertEqual((x * factor).tolist(), [factor, 2 * factor, 3 * factor, 4 * factor])

    def test_memory_that_is_freed_is_no_longer_an_allocation(self):
        x = Tensor.ones(1 << 20).contiguous().realize()
        buffer = x.uop.base.buffer._buf
        address = buffer.va_addr if hasattr(buffer, "va_addr") else buffer.value
        del x, buffer
        # Freed memory is kept for later by tinygrad until somebody asks for it back.
        allocator = Device[Device.DEFAULT].allocator
        allocator.free_cache()
        Device[Device.DEFAULT].synchronize()
        self.assertEqual(helpers.ptx_unregister(address), -1)


if __name__ == "__main__":
    unittest.main()
