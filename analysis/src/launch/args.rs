//! Kernel arguments against the kernel's parameters (PTX ISA 5.1.6.1): count, sizes, kinds; then their bytes.

use super::problem::{At, Given, Problem, ProblemKind};
use super::{Arg, Meaning, Scalar};
use crate::program::env::{Function, Param};

/// The parameter area of a launch: the argument bytes at the parameters' offsets, zeros between them.
///
/// `address` gives the device address and the size in bytes of a buffer, or a handle and its size; `pointer` is the size of an address in bytes.
///
/// # Errors
/// Every argument that does not fit its parameter; their number when it is wrong.
pub fn pack(
    entry: &Function,
    args: &[(Arg, At)],
    pointer: u32,
    at: At,
    mut address: impl FnMut(&Arg) -> Option<(u64, u64)>,
) -> Result<Vec<u8>, Vec<Problem>> {
    if args.len() != entry.params.len() {
        let kind = ProblemKind::ArgCount {
            entry: entry.name.clone(),
            wanted: entry.params.len(),
            given: args.len(),
            parameters: entry.params.iter().map(|p| format!("{} {}", p.ty, p.name)).collect(),
        };
        return Err(vec![kind.at(at)]);
    }
    let mut area = vec![0; entry.param_bytes as usize];
    let mut problems = Vec::new();
    let mut bytes_of = |index, param: &Param, arg: &Arg| {
        let given = given(arg, pointer);
        if !fits(&given, param) {
            let (entry, parameter) = (entry.name.clone(), Box::new(param.clone()));
            return Err(ProblemKind::ArgType { entry, index, parameter, given });
        }
        Ok(match arg {
            Arg::Scalar(_, bytes) | Arg::Bytes(bytes) => bytes.clone(),
            Arg::Null => vec![0; pointer as usize],
            Arg::Handle { kind, name } => match address(arg) {
                Some((handle, _)) => handle.to_le_bytes().to_vec(),
                None => {
                    let (kind, name) = (kind.name(), name.clone());
                    return Err(ProblemKind::UnknownImage { kind, name, known: Vec::new() });
                }
            },
            Arg::Buffer { name, offset } => {
                let (name, offset) = (name.clone(), *offset);
                match address(arg) {
                    None => return Err(ProblemKind::UnknownBuffer { name, known: Vec::new() }),
                    Some((_, bytes)) if offset > bytes => {
                        return Err(ProblemKind::ArgOffset { index, buffer: name, offset, bytes });
                    }
                    Some((base, _)) => base.wrapping_add(offset).to_le_bytes()[..pointer.min(8) as usize].to_vec(),
                }
            }
        })
    };
    for (index, (param, (arg, arg_at))) in entry.params.iter().zip(args).enumerate() {
        let start = param.offset as usize;
        match bytes_of(index, param, arg) {
            Err(kind) => problems.push(kind.at(arg_at.or(at))),
            Ok(bytes) => {
                if let Some(to) = area.get_mut(start..start + bytes.len()) {
                    to.copy_from_slice(&bytes);
                }
            }
        }
    }
    if problems.is_empty() { Ok(area) } else { Err(problems) }
}

fn given(arg: &Arg, pointer: u32) -> Given {
    match arg {
        Arg::Buffer { name, .. } => Given::Buffer(name.clone(), pointer),
        Arg::Null => Given::Null(pointer),
        Arg::Handle { kind, name } => Given::Handle(kind.name(), name.clone()),
        Arg::Scalar(ty, _) => Given::Scalar(*ty),
        Arg::Bytes(bytes) => Given::Bytes(bytes.len()),
    }
}

/// Whether an argument may stand for a parameter: the sizes are equal, and numbers are not mistaken for one another.
fn fits(given: &Given, param: &Param) -> bool {
    match given {
        Given::Bytes(n) => *n == param.bytes as usize,
        // A struct may hold nothing but a handle.
        Given::Handle(..) => param.bytes == 8 && !floating(&param.ty),
        Given::Buffer(_, n) | Given::Null(n) => *n == param.bytes && !param.array && !floating(&param.ty),
        Given::Scalar(ty) => {
            // A parameter of bits takes any number; `.f16` parameters are declared `.b16` by compilers.
            let alike =
                param.ty.starts_with('b') || ty.meaning == Meaning::Bits || floating(&param.ty) == ty.is_float();
            u32::from(ty.bytes) == param.bytes && !param.array && alike && !(param.pointer && *ty != POINTER)
        }
    }
}

/// The one number that a `.ptr` parameter takes: an address that somebody computed.
const POINTER: Scalar = Scalar { meaning: Meaning::Unsigned, bytes: 8 };

fn floating(ty: &str) -> bool {
    ty.starts_with('f')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{FileId, Pc, Span};
    use crate::program::env::{Bounds, Slots};

    fn param(ty: &str, offset: u32, bytes: u32, array: bool) -> Param {
        Param { name: format!("p{offset}"), ty: ty.into(), offset, bytes, align: bytes, array, pointer: false }
    }

    fn kernel(params: Vec<Param>) -> Function {
        Function {
            name: "k".into(),
            entry: true,
            start: Pc(0),
            end: Pc(0),
            defined: true,
            param_bytes: params.last().map_or(0, |p| p.offset + p.bytes),
            params,
            returns: 0,
            frame_bytes: 0,
            slots: Slots::default(),
            preloads: Vec::new(),
            undefined: Vec::new(),
            shared_bytes: 0,
            shared: Vec::new(),
            locals: Vec::new(),
            bounds: Bounds::default(),
            registers: crate::program::registers::Registers::default(),
            file: FileId(0),
            span: Span::default(),
        }
    }

    fn scalar(ty: &str, bytes: &[u8]) -> (Arg, At) {
        (Arg::Scalar(Scalar::named(ty).unwrap(), bytes.to_vec()), None)
    }

    fn buffer(offset: u64) -> (Arg, At) {
        (Arg::Buffer { name: "a".into(), offset }, None)
    }

    fn run(params: Vec<Param>, args: &[(Arg, At)]) -> Result<Vec<u8>, Vec<ProblemKind>> {
        pack(&kernel(params), args, 8, None, |_| Some((0x1_0000, 64)))
            .map_err(|p| p.into_iter().map(|p| p.kind).collect())
    }

    #[test]
    fn bytes_lie_at_their_offsets() {
        let params = vec![param("u32", 0, 4, false), param("u64", 8, 8, false), param("b8", 16, 3, true)];
        let args = [scalar("s32", &[1, 2, 3, 4]), buffer(16), (Arg::Bytes(vec![7, 8, 9]), None)];
        assert_eq!(run(params, &args), Ok(vec![1, 2, 3, 4, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0, 0, 7, 8, 9]));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let wrong = |params, args: &[(Arg, At)]| run(params, args).unwrap_err().len();
        assert_eq!(wrong(vec![param("u64", 0, 8, false)], &[scalar("u32", &[0; 4])]), 1);
        assert_eq!(wrong(vec![param("u32", 0, 4, false)], &[buffer(0)]), 1);
        assert_eq!(wrong(vec![param("u32", 0, 4, false)], &[scalar("f32", &[0; 4])]), 1);
        assert_eq!(wrong(vec![param("f64", 0, 8, false)], &[buffer(0)]), 1);
        assert_eq!(wrong(vec![param("b8", 0, 8, true)], &[buffer(0)]), 1);
        assert_eq!(wrong(vec![param("u64", 0, 8, false)], &[buffer(65)]), 1);
        assert_eq!(wrong(vec![param("u64", 0, 8, false)], &[]), 1);
        assert!(run(vec![param("b32", 0, 4, false)], &[scalar("f32", &[0; 4])]).is_ok());
        assert!(run(vec![param("u64", 0, 8, false)], &[buffer(64)]).is_ok());
    }
}
