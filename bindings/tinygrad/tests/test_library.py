"""The library as tinygrad's mock calls it: through ctypes. `WARPSTEP_PTX` is its path; `python -m unittest` runs this file."""

import ctypes
import os
import signal
import subprocess
import sys
import time
import unittest

SCALE = b"""
.version 7.5
.target sm_50
.address_size 64
.visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 by) {
  .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<3>; .reg .pred %p0;
  ld.param.u64 %rd0, [x]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [by];
  mov.u32 %r0, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r0, %r2, %r3, %r0;
  setp.ge.u32 %p0, %r0, %r1; @%p0 ret;
  mul.wide.u32 %rd1, %r0, 4; add.s64 %rd0, %rd0, %rd1;
  ld.global.f32 %f0, [%rd0]; mul.f32 %f0, %f0, %f1; st.global.f32 [%rd0], %f0;
  ret;
}
"""

library = ctypes.CDLL(os.environ["WARPSTEP_PTX"])
library.ptx_run.restype = None
library.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)] + [ctypes.c_int] * 7
library.ptx_last_error.restype = ctypes.c_char_p
library.ptx_register.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
library.ptx_unregister.argtypes = [ctypes.c_void_p]


def address(memory):
    """Where the bytes of a bytearray lie."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def scale(at, count, by, blocks):
    bits = ctypes.c_uint32.from_buffer_copy(ctypes.c_float(by)).value
    args = (ctypes.c_void_p * 3)(at, count, bits)
    library.ptx_run(SCALE, 3, args, 64, 1, 1, blocks, 1, 1, 0)


def floats(memory):
    return list(memoryview(memory).cast("f"))


ENDLESS = b"""
.version 7.5
.target sm_50
.address_size 64
.visible .entry endless() {
L: bra L;
}
"""


class Library(unittest.TestCase):
    def test_control_c_ends_a_kernel_that_never_ends(self):
        code = (
            "import test_library as t\nprint('begins', flush=True)\n"
            "try:\n  t.library.ptx_run(t.ENDLESS, 0, (t.ctypes.c_void_p * 0)(), 1, 1, 1, 1, 1, 1, 0)\n"
            "  raise SystemExit('it goes on')\n"
            "except KeyboardInterrupt:\n  print('interrupted')"
        )
        for on_defect, status, said in (("continue", 0, "interrupted"), ("abort", 3, "")):
            run = subprocess.Popen(
                [sys.executable, "-B", "-c", code], env={**os.environ, "WARPSTEP_ON_DEFECT": on_defect},
                cwd=os.path.dirname(os.path.abspath(__file__)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            self.assertEqual(run.stdout.readline(), "begins\n")
            time.sleep(1)
            run.send_signal(signal.SIGINT)
            output, report = run.communicate(timeout=20)
            self.assertEqual((run.returncode, output.strip()), (status, said), report)
            self.assertIn("interrupted", report)

    def test_memory_of_python(self):
        for count in (1, 100, 70_000):
            memory = bytearray(memoryview((ctypes.c_float * count)(*range(count))))
            scale(address(memory), count, 2.0, count // 64 + 1)
            self.assertIsNone(library.ptx_last_error())
            self.assertEqual(floats(memory), [2.0 * k for k in range(count)])

    def test_failures(self):
        memory = bytearray(400)
        before = os.environ.get("WARPSTEP_ON_DEFECT")
        os.environ["WARPSTEP_ON_DEFECT"] = "continue"
        try:
            scale(1 << 44, 64, 2.0, 1)
            self.assertIn(b"invalid global read of 4 bytes", library.ptx_last_error())
            library.ptx_run(None, 0, None, 1, 1, 1, 1, 1, 1, 0)
            self.assertIn(b"no text of PTX", library.ptx_last_error())
        finally:
            os.environ.pop("WARPSTEP_ON_DEFECT")
            if before is not None:
                os.environ["WARPSTEP_ON_DEFECT"] = before
        scale(address(memory), 100, 2.0, 2)
        self.assertIsNone(library.ptx_last_error())

    def test_abort(self):
        program = "import test_library as t; t.scale(1 << 44, 64, 2.0, 1); print('still there')"
        environment = {k: v for k, v in os.environ.items() if k != "WARPSTEP_ON_DEFECT"}
        folder = os.path.dirname(os.path.abspath(__file__))
        ended = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True)
        self.assertEqual((ended.returncode, ended.stdout), (1, b""))
        self.assertIn(b"ld.global.f32 %f0, [%rd0]", ended.stderr)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_fork(self):
        # The child's memory is not the parent's.
        memory = bytearray(memoryview((ctypes.c_float * 10)(*range(10))))
        scale(address(memory), 10, 1.0, 1)
        child = os.fork()
        if child == 0:
            scale(address(memory), 10, 3.0, 1)
            os._exit(0 if floats(memory)[9] == 27.0 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(floats(memory)[9], 9.0)

    def test_zz_registered(self):
        # The last one: from here on nothing else can be accessed.
        memory = bytearray(400)
        self.assertEqual(library.ptx_register(address(memory), 400), 0)
        os.environ["WARPSTEP_ON_DEFECT"] = "continue"
        try:
            scale(address(memory), 128, 2.0, 2)
            self.assertIn(b"of 400 bytes", library.ptx_last_error())
        finally:
            os.environ.pop("WARPSTEP_ON_DEFECT")
        scale(address(memory), 100, 2.0, 2)
        self.assertEqual((library.ptx_last_error(), library.ptx_unregister(address(memory))), (None, 0))


if __name__ == "__main__":
    unittest.main()
