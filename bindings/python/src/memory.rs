//! Memory of Python's that is borrowed while a kernel runs: the only module with `unsafe`.
//!
//! A kernel's memory is a slice, `&[u8]` or `&mut [u8]`, for as long as one call lasts. Python's buffer protocol gives an address and
//! a length. Why making slices of these is sound:
//!
//! - *The memory stays.* A [`PyBuffer`] keeps its exporter alive, and an exporter does not move or free memory while it is exported
//!   (numpy refuses to resize an array, `bytearray` raises `BufferError`). The slices borrow the [`Borrowed`] that has it, also
//!   where the device has that one, for a kernel that works in place ([`Lent`]).
//! - *It is one piece*, of as many bytes as the slice has: [`Borrowed::of`] refuses buffers that are not contiguous, and it is not null
//!   or the slice is empty.
//! - *It may be written*: [`Borrowed::bytes_mut`] gives nothing of buffers that are exported for reading.
//! - *Nobody else has a slice of it*: the package gives two arguments that share memory once, and refuses those that overlap
//!   in part, as it does memory beside the parameters that overlaps anything ([`Arguments::of`](crate::arguments::Arguments::of) sees
//!   to it for each launch); what is expected of an array is a copy.
//!   What other Python threads do to an array while a kernel runs is not excluded, no more than while numpy itself works on it with
//!   the lock released: bytes are then of either, since any bytes are valid values and no length or address depends on them.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use warpstep::Lent;

/// Contiguous bytes of an object.
pub struct Borrowed(PyBuffer<u8>);

impl Borrowed {
    /// The bytes of an object that exports them.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<u8>::get(object)?;
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err("memory of a kernel has to be contiguous"));
        }
        Ok(Self(buffer))
    }

    /// Where they are: the first address, and the one after the last.
    pub fn range(&self) -> (usize, usize) {
        let start = self.0.buf_ptr().addr();
        (start, start + self.0.len_bytes())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len_bytes()
    }

    /// To be read.
    pub fn bytes(&self) -> &[u8] {
        let pointer = self.0.buf_ptr().cast::<u8>();
        if self.0.len_bytes() == 0 || pointer.is_null() {
            return &[];
        }
        // SAFETY: see the head of this module.
        #[expect(unsafe_code, reason = "memory of Python's")]
        unsafe {
            std::slice::from_raw_parts(pointer, self.0.len_bytes())
        }
    }

    /// Whether they may only be read.
    pub fn is_readonly(&self) -> bool {
        self.0.readonly()
    }

    /// To be read and written; none where they may only be read.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let pointer = self.0.buf_ptr().cast::<u8>();
        if self.is_readonly() || self.0.len_bytes() == 0 || pointer.is_null() {
            return &mut [];
        }
        // SAFETY: see the head of this module.
        #[expect(unsafe_code, reason = "memory of Python's")]
        unsafe {
            std::slice::from_raw_parts_mut(pointer, self.0.len_bytes())
        }
    }
}

/// For kernels that work in place: the device has it then, and gives it back when it goes.
impl Lent for Borrowed {
    fn bytes(&self) -> &[u8] {
        self.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes_mut()
    }
}
