//! Arguments of a launch, as the package describes them.

use crate::memory::Borrowed;
use crate::watch::Watch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::sync::Arc;
use warpstep::launch::Scalar;
use warpstep::{Argument, Kernel, Left};

/// One argument.
enum Given {
    /// `("number", type, bytes)`
    Number(Scalar, Vec<u8>),
    /// `("struct", bytes)`
    Struct(Vec<u8>),
    /// `("null",)`
    Null,
    /// `("within", argument, offset)`: a pointer into the memory of another argument. Of memory beside the arguments that is a part
    /// of other memory: a name for that part.
    Within { argument: usize, offset: u64, beside: bool },
    /// `("memory", name, type, buffer, keep, expected)`; `keep`: the kernel must leave it as it is.
    /// The bytes are taken out where they are lent. `("beside", …)` is the same that no parameter is given for.
    Memory { name: String, ty: Scalar, bytes: Option<Borrowed>, keep: bool, expected: Option<Borrowed>, beside: bool },
    /// `("pointer", argument, at, argument, offset)`: what bytes of the memory of an argument are. It is no argument, and stands
    /// behind all of them.
    Pointer { from: (usize, usize), to: (usize, u64) },
    /// `("placed", name, type, buffer, written, address)`: memory at an address, which is no parameter; `written`: whether the host
    /// has written it.
    Placed { name: String, ty: Scalar, bytes: Borrowed, written: bool, address: u64 },
    /// `("variable", name, buffer)`: what a variable of the module holds at first and at last.
    Variable { name: String, bytes: Borrowed },
}

/// All arguments of a launch.
pub struct Arguments {
    all: Vec<Given>,
    /// The memory of those that were given as memory: the name of the buffer, from which byte on, how many.
    memories: Vec<Memory>,
}

/// A part of a buffer.
pub type Memory = (String, usize, usize);

fn scalar(name: &str) -> PyResult<Scalar> {
    Scalar::named(name).ok_or_else(|| PyValueError::new_err(format!("there is no element type `{name}`")))
}

impl Given {
    fn of(tuple: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let bytes = |k| PyResult::Ok(tuple.get_item(k)?.cast_into::<PyBytes>()?.as_bytes().to_vec());
        let item = tuple.get_item(0)?;
        let kind: &str = item.extract()?;
        Ok(match kind {
            "number" => Self::Number(scalar(tuple.get_item(1)?.extract()?)?, bytes(2)?),
            "struct" => Self::Struct(bytes(1)?),
            "null" => Self::Null,
            "within" => Self::Within {
                argument: tuple.get_item(1)?.extract()?,
                offset: tuple.get_item(2)?.extract()?,
                beside: false,
            },
            "pointer" => Self::Pointer {
                from: (tuple.get_item(1)?.extract()?, tuple.get_item(2)?.extract()?),
                to: (tuple.get_item(3)?.extract()?, tuple.get_item(4)?.extract()?),
            },
            "memory" | "beside" => {
                let expected = tuple.get_item(5)?;
                Self::Memory {
                    name: tuple.get_item(1)?.extract()?,
                    ty: scalar(tuple.get_item(2)?.extract()?)?,
                    bytes: Some(Borrowed::of(&tuple.get_item(3)?)?),
                    keep: tuple.get_item(4)?.extract()?,
                    expected: if expected.is_none() { None } else { Some(Borrowed::of(&expected)?) },
                    beside: kind == "beside",
                }
            }
            "placed" => Self::Placed {
                name: tuple.get_item(1)?.extract()?,
                ty: scalar(tuple.get_item(2)?.extract()?)?,
                bytes: writable(tuple.get_item(3)?)?,
                written: tuple.get_item(4)?.extract()?,
                address: tuple.get_item(5)?.extract()?,
            },
            "variable" => Self::Variable { name: tuple.get_item(1)?.extract()?, bytes: writable(tuple.get_item(2)?)? },
            other => return Err(PyValueError::new_err(format!("no kind of argument: {other}"))),
        })
    }
}

/// The bytes of an object that may be written.
fn writable(object: Bound<'_, PyAny>) -> PyResult<Borrowed> {
    let bytes = Borrowed::of(&object)?;
    if bytes.is_readonly() {
        return Err(PyValueError::new_err("memory that is no parameter has to be writable"));
    }
    Ok(bytes)
}

/// Sees to it that memory beside the parameters shares no byte with any other.
fn lie_apart(all: &[Given]) -> PyResult<()> {
    let beside = |given: &Given| matches!(given, Given::Placed { .. } | Given::Variable { .. });
    if !all.iter().any(beside) {
        return Ok(());
    }
    let range = |given: &Given| match given {
        Given::Memory { bytes: Some(bytes), .. } | Given::Placed { bytes, .. } | Given::Variable { bytes, .. } => {
            Some(bytes.range())
        }
        _ => None,
    };
    let mut ranges: Vec<_> = all.iter().filter_map(range).filter(|(start, end)| start < end).collect();
    ranges.sort_unstable();
    let shared = ranges.windows(2).any(|pair| pair[0].1 > pair[1].0);
    if shared {
        Err(PyValueError::new_err("memory beside the parameters shares bytes with other memory"))
    } else {
        Ok(())
    }
}

impl Arguments {
    /// What a list of tuples describes. Of arguments that share memory the largest is the kernel's memory, and others point into it.
    pub fn of(list: &Bound<'_, PyList>) -> PyResult<Self> {
        let mut all = list.iter().map(|tuple| Given::of(tuple.cast::<PyTuple>()?)).collect::<PyResult<Vec<_>>>()?;
        lie_apart(&all)?;
        let places = places(&all);
        let mut memories = Vec::with_capacity(places.len());
        for (k, (start, end)) in places.iter().copied() {
            // The largest, and of several the first one.
            let shares = |(_, other): &&Place| other.0 < end && start < other.1;
            let largest = places.iter().filter(shares).min_by_key(|(j, other)| (other.0.wrapping_sub(other.1), *j));
            let (j, other) = largest.copied().unwrap_or((k, (start, end)));
            if start < other.0 || end > other.1 {
                let what = format!(
                    "arguments {j} and {k} share a part of their memory: give arrays that share none, or one that is in the other"
                );
                return Err(PyValueError::new_err(what));
            }
            let Given::Memory { name, .. } = &all[j] else { continue };
            memories.push((name.clone(), start - other.0, end - start));
            if j != k {
                let Given::Memory { expected, beside, .. } = &all[k] else { continue };
                if expected.is_some() {
                    let what = format!("argument {k} is in the memory of argument {j}: give what is expected there");
                    return Err(PyValueError::new_err(what));
                }
                all[k] = Given::Within { argument: j, offset: (start - other.0) as u64, beside: *beside };
            }
        }
        // Addresses in, and of, what is a part of other memory are those of that one.
        for k in 0..all.len() {
            let Given::Pointer { from, to } = all[k] else { continue };
            let within = |argument: usize| match all.get(argument) {
                Some(Given::Within { argument, offset, .. }) => (*argument, *offset),
                _ => (argument, 0),
            };
            let ((j, more), (target, offset)) = (within(from.0), within(to.0));
            all[k] = Given::Pointer { from: (j, from.1 + more as usize), to: (target, to.1 + offset) };
        }
        memories.extend(all.iter().filter_map(|given| match given {
            Given::Placed { name, bytes, .. } => Some((name.clone(), 0, bytes.len())),
            _ => None,
        }));
        Ok(Self { all, memories })
    }

    /// The memory of each argument that was given as memory.
    pub fn memories(&self) -> Vec<Memory> {
        self.memories.clone()
    }

    /// The kernel with these arguments; `rel`: by how much of the expected value floats may differ; `in_place`: whether it works
    /// in arrays themselves.
    pub fn give<'a>(&'a mut self, kernel: Kernel<'a>, rel: Option<f64>, in_place: bool) -> Kernel<'a> {
        self.all.iter_mut().enumerate().fold(kernel, |kernel, (k, given)| match given {
            Given::Number(ty, bytes) => kernel.arg(Argument::number(*ty, bytes.clone())),
            Given::Struct(bytes) => kernel.arg(Argument::bytes(bytes.clone())),
            Given::Null => kernel.arg(Argument::null()),
            // Buffers have names of their own; one that is named by its place is not mistaken for it.
            Given::Within { argument, offset, beside } => {
                let (name, within) = (format!("argument {k}"), Argument::within(*argument, *offset));
                if *beside { kernel.beside(&name, within) } else { kernel.buffer(&name, within) }
            }
            Given::Pointer { from, to } => kernel.points(*from, *to),
            Given::Placed { name, ty, bytes, written, address } => {
                kernel.memory_at(name, *address, Argument::buffer(*ty, bytes.bytes_mut(), written))
            }
            Given::Variable { name, bytes } => kernel.variable(name, bytes.bytes_mut()),
            Given::Memory { name, ty, bytes, keep, expected, beside } => {
                let memory = memory(*ty, bytes, *keep, in_place);
                let kernel = if *beside { kernel.beside(name, memory) } else { kernel.buffer(name, memory) };
                match expected {
                    Some(expected) => kernel.expect_bytes(*ty, expected.bytes(), rel),
                    None => kernel,
                }
            }
        })
    }
}

/// An argument's number, and where its memory is.
type Place = (usize, (usize, usize));

fn places(all: &[Given]) -> Vec<Place> {
    let place = |(k, given): (usize, &Given)| match given {
        Given::Memory { bytes: Some(bytes), .. } => Some((k, bytes.range())),
        _ => None,
    };
    all.iter().enumerate().filter_map(place).collect()
}

fn memory(ty: Scalar, bytes: &mut Option<Borrowed>, keep: bool, in_place: bool) -> Argument<'_> {
    if in_place
        && !keep
        && let Some(lent) = bytes.take_if(|bytes| !bytes.is_readonly())
    {
        return Argument::in_place(ty, lent);
    }
    match bytes {
        Some(held) => {
            if keep || held.is_readonly() {
                Argument::kept(ty, held.bytes())
            } else {
                Argument::memory(ty, held.bytes_mut())
            }
        }
        None => Argument::null(),
    }
}

/// The kernel with Python code that judges what runs leave: it is given the bytes of each memory, and gives a reason or none.
pub fn judged<'a>(kernel: Kernel<'a>, judge: Py<PyAny>, memories: Vec<Memory>, watch: &Arc<Watch>) -> Kernel<'a> {
    let watch = Arc::clone(watch);
    kernel.expect_that(move |left: &Left<'_>| {
        let part = |(name, from, len): &Memory| left.bytes(name).and_then(|b| b.get(*from..from + len)).unwrap_or(&[]);
        let asked = Python::attach(|py| {
            let all = memories.iter().map(|memory| PyBytes::new(py, part(memory)));
            judge.call1(py, (PyList::new(py, all)?,))?.extract::<Option<String>>(py)
        });
        match asked {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(why),
            Err(error) => {
                watch.end(error);
                Ok(())
            }
        }
    })
}
