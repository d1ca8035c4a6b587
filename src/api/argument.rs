//! Arguments of kernels: numbers, structs, and buffers of a type.

use super::described::Described;
use crate::launch::{Meaning, Scalar};
use crate::memory::flat::Lent;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use half::{bf16, f16};
use std::ops::{Deref, DerefMut};

/// A type of buffers' elements and of numbers that are passed: `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, and `half`'s `f16`
/// and `bf16`.
pub trait Element: Pod + sealed::Sealed {
    /// The type as PTX and messages call it.
    #[doc(hidden)]
    const TYPE: Scalar;
}

mod sealed {
    /// Types that PTX has: no others can be elements.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($meaning:ident: $($ty:ty)*;)*) => {
        $($(
            impl sealed::Sealed for $ty {}

            impl Element for $ty {
                const TYPE: Scalar = Scalar { meaning: Meaning::$meaning, bytes: size_of::<$ty>() as u8 };
            }
        )*)*
    };
}

elements! {
    Unsigned: u8 u16 u32 u64;
    Signed: i8 i16 i32 i64;
    Float: f16 f32 f64;
    Brain: bf16;
}

/// An argument of a kernel: made from a number, from a slice, vector or array of numbers, or from a [`Buffer`].
///
/// A slice that is borrowed for writing is device memory of its size: it holds what the kernel left there after a run that
/// ended as it should. One that is borrowed for reading is device memory, too, but what the kernel writes there is lost.
#[must_use]
pub struct Argument<'a>(pub(super) Given<'a>);

/// What is given.
pub(super) enum Given<'a> {
    /// A number: its type and bytes.
    Number(Scalar, Vec<u8>),
    /// A struct or array by value.
    Struct(Vec<u8>),
    /// The null pointer.
    Null,
    /// Device memory that holds these elements.
    Memory(Scalar, Memory<'a>),
    /// A part of the memory of an argument before: its number, and from which byte on.
    Within(usize, u64),
    /// A texture or surface, whose texels these are.
    Image(Box<Described>, Memory<'a>),
}

/// Device memory of a launch.
pub(super) enum Memory<'a> {
    /// What it holds at first; the caller does not see what becomes of it.
    Read(&'a [u8]),
    /// What it holds at first, and has to hold at last.
    Kept(&'a [u8]),
    /// The same of bytes that are lent for the run, unless they were given to the device.
    Lent(Option<Box<dyn Lent>>),
    /// What it holds at first, and at last; of a buffer, whether it holds anything at first.
    Write(&'a mut [u8], Option<&'a mut bool>),
}

impl Memory<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Lent(loan) => loan.as_ref().map_or(&[], |loan| loan.bytes()),
            Self::Read(bytes) | Self::Kept(bytes) => bytes,
            Self::Write(bytes, _) => bytes,
        }
    }

    /// Whether the host, or a kernel that ended, has written it.
    pub(super) const fn is_written(&self) -> bool {
        !matches!(self, Self::Write(_, Some(false)))
    }
}

impl<'a> Argument<'a> {
    /// A number whose type is known only when the program runs: its bytes, little-endian.
    pub fn number(ty: Scalar, bytes: impl Into<Vec<u8>>) -> Self {
        Self(Given::Number(ty, bytes.into()))
    }

    /// Memory of elements whose type is known only when the program runs, as of a slice that is borrowed for writing.
    pub const fn memory(ty: Scalar, bytes: &'a mut [u8]) -> Self {
        Self(Given::Memory(ty, Memory::Write(bytes, None)))
    }

    /// The same of memory that the host need not have written, as of a [`Buffer`]: `written` says whether it has, and is true once a
    /// kernel has ended.
    pub const fn buffer(ty: Scalar, bytes: &'a mut [u8], written: &'a mut bool) -> Self {
        Self(Given::Memory(ty, Memory::Write(bytes, Some(written))))
    }

    /// The same of memory that must stay as it is: that a kernel left something else there is an error.
    pub const fn kept(ty: Scalar, bytes: &'a [u8]) -> Self {
        Self(Given::Memory(ty, Memory::Kept(bytes)))
    }

    /// Memory in which the kernel works in place: nothing is copied. Where that cannot be, on memory that is not flat, with
    /// asynchronous copies, and in searches, it is copied as a slice is. After an error it holds what the kernel left there
    /// until then. Kernels are slower on it.
    pub fn in_place(ty: Scalar, bytes: impl Lent + 'static) -> Self {
        Self(Given::Memory(ty, Memory::Lent(Some(Box::new(bytes)))))
    }

    /// A pointer into the memory of an argument before, by its number among the arguments, so many bytes from its start.
    pub const fn within(argument: usize, offset: u64) -> Self {
        Self(Given::Within(argument, offset))
    }

    /// A struct or an array that is passed by value: its bytes, as the kernel's parameter lays them out.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self(Given::Struct(bytes.into()))
    }

    /// The null pointer.
    pub const fn null() -> Self {
        Self(Given::Null)
    }
}

impl<T: Element> From<T> for Argument<'_> {
    fn from(number: T) -> Self {
        Self(Given::Number(T::TYPE, bytemuck::bytes_of(&number).to_vec()))
    }
}

impl<'a, T: Element> From<&'a [T]> for Argument<'a> {
    fn from(elements: &'a [T]) -> Self {
        Self(Given::Memory(T::TYPE, Memory::Read(cast_slice(elements))))
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Argument<'a> {
    fn from(elements: &'a mut [T]) -> Self {
        Self(Given::Memory(T::TYPE, Memory::Write(cast_slice_mut(elements), None)))
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Argument<'a> {
    fn from(elements: &'a Vec<T>) -> Self {
        elements.as_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Vec<T>> for Argument<'a> {
    fn from(elements: &'a mut Vec<T>) -> Self {
        elements.as_mut_slice().into()
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Argument<'a> {
    fn from(elements: &'a [T; N]) -> Self {
        elements.as_slice().into()
    }
}

impl<'a, T: Element, const N: usize> From<&'a mut [T; N]> for Argument<'a> {
    fn from(elements: &'a mut [T; N]) -> Self {
        elements.as_mut_slice().into()
    }
}

impl<'a, T: Element> From<&'a mut Buffer<T>> for Argument<'a> {
    fn from(buffer: &'a mut Buffer<T>) -> Self {
        let Buffer { elements, written } = buffer;
        Self(Given::Memory(T::TYPE, Memory::Write(cast_slice_mut(elements), Some(written))))
    }
}

/// Elements of device memory that the host need not write first, as after `cudaMalloc`: a kernel that uses what was never
/// written is found by [`Check::Uninit`](super::Check::Uninit).
#[derive(Clone, PartialEq, Debug)]
#[must_use]
pub struct Buffer<T> {
    elements: Vec<T>,
    /// Whether the host, or a kernel that ended, has written it.
    written: bool,
}

impl<T: Element> Buffer<T> {
    /// A buffer of so many elements that nothing has been written to; they read as zero here.
    pub fn uninit(len: usize) -> Self {
        Self { elements: vec![T::zeroed(); len], written: false }
    }

    /// A buffer of so many zeros.
    pub fn zeros(len: usize) -> Self {
        Self { written: true, ..Self::uninit(len) }
    }

    /// Its elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.elements
    }
}

impl<T: Element> From<Vec<T>> for Buffer<T> {
    fn from(elements: Vec<T>) -> Self {
        Self { elements, written: true }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements
    }
}

impl<T> DerefMut for Buffer<T> {
    /// Who takes hold of the elements writes them.
    fn deref_mut(&mut self) -> &mut [T] {
        self.written = true;
        &mut self.elements
    }
}

/// Eight bytes of an argument's memory that are the address of a byte of another one's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pointer {
    /// The argument whose memory has it, and from which byte on.
    pub from: (usize, usize),
    /// The argument that it leads to, and to which byte of its memory.
    pub to: (usize, u64),
}
