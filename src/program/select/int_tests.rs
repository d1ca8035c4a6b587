//! The instructions that select each operation.

use super::int::{compare, pack, select, unpack};
use super::{atom::atom, int_cvt};
use crate::program::int_ops::IntOp;
use crate::program::ops::{AluOp, AtomOp, AtomTy, Class};
use crate::ptx::tree::Names;
use crate::ptx::{Modifier as M, Opcode as O};

/// The operation that an instruction such as `mad.lo.s32` selects, by name; empty if there is none.
fn selected(text: &str) -> String {
    let mut names = Names::default();
    let mut words = text.split('.');
    let opcode = O::of(words.next().unwrap_or_default(), &mut names);
    let mods: Vec<M> = words.map(|word| M::of(word, &mut names)).collect();
    match select(opcode, &mods) {
        Some(selected) => named(selected.op),
        None => String::new(),
    }
}

fn named(op: AluOp) -> String {
    match op {
        AluOp::Int(op) => format!("{op:?}"),
        AluOp::Float(op) => format!("{op:?}"),
    }
}

/// Instructions and their operations. A type `{…}` stands for several.
const TABLE: &str = "
    add.{u16,s16} Add16        add.{u32,s32} Add32       add.{u64,s64} Add64        add.sat.s32 AddSatS32
    add.{u16x2,s16x2} Add16x2  sub.{u16,s16} Sub16       sub.{u32,s32} Sub32        sub.{u64,s64} Sub64
    sub.sat.s32 SubSatS32      add.sat.u32 AddSatU32     add.sat.u16x2 AddSatU16x2  add.sat.s16x2 AddSatS16x2
    add.{u8x4,s8x4} Add8x4     add.sat.u8x4 AddSatU8x4   add.sat.s8x4 AddSatS8x4    sub.{u8x4,s8x4} Sub8x4
    sub.sat.u8x4 SubSatU8x4    sub.sat.s8x4 SubSatS8x4   neg.s8x4 Neg8x4            min.u8x4 MinU8x4
    max.u8x4 MaxU8x4           min.s8x4 MinS8x4          max.s8x4 MaxS8x4           min.relu.s8x4 MinReluS8x4
    max.relu.s8x4 MaxReluS8x4  cvt.pack.sat.{u16,s16}.s32 CvtPack16                 cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32 CvtPack
    mul.lo.{u16,s16} MulLo16   mul.lo.{u32,s32} MulLo32  mul.lo.{u64,s64} MulLo64   mul.hi.u16 MulHiU16
    mul.hi.s16 MulHiS16        mul.hi.u32 MulHiU32       mul.hi.s32 MulHiS32        mul.hi.u64 MulHiU64
    mul.hi.s64 MulHiS64        mul.wide.u16 MulWideU16   mul.wide.s16 MulWideS16    mul.wide.u32 MulWideU32
    mul.wide.s32 MulWideS32
    mad.lo.{u16,s16} MadLo16   mad.lo.{u32,s32} MadLo32  mad.lo.{u64,s64} MadLo64   mad.hi.u16 MadHiU16
    mad.hi.s16 MadHiS16        mad.hi.u32 MadHiU32       mad.hi.s32 MadHiS32        mad.hi.u64 MadHiU64
    mad.hi.s64 MadHiS64        mad.hi.sat.s32 MadHiSatS32
    mad.wide.u16 MadWideU16    mad.wide.s16 MadWideS16   mad.wide.u32 MadWideU32    mad.wide.s32 MadWideS32
    mul24.lo.u32 Mul24LoU32    mul24.lo.s32 Mul24LoS32   mul24.hi.u32 Mul24HiU32    mul24.hi.s32 Mul24HiS32
    mad24.lo.u32 Mad24LoU32    mad24.lo.s32 Mad24LoS32   mad24.hi.u32 Mad24HiU32    mad24.hi.s32 Mad24HiS32
    mad24.hi.sat.s32 Mad24HiSatS32
    sad.u16 SadU16   sad.s16 SadS16   sad.u32 SadU32   sad.s32 SadS32   sad.u64 SadU64   sad.s64 SadS64
    div.u16 DivU16   div.s16 DivS16   div.u32 DivU32   div.s32 DivS32   div.u64 DivU64   div.s64 DivS64
    rem.u16 RemU16   rem.s16 RemS16   rem.u32 RemU32   rem.s32 RemS32   rem.u64 RemU64   rem.s64 RemS64
    abs.s16 AbsS16   abs.s32 AbsS32   abs.s64 AbsS64
    neg.s16 Neg16    neg.s32 Neg32    neg.s64 Neg64 
    min.u16 MinU16   min.s16 MinS16   min.u32 MinU32   min.s32 MinS32   min.u64 MinU64   min.s64 MinS64
    max.u16 MaxU16   max.s16 MaxS16   max.u32 MaxU32   max.s32 MaxS32   max.u64 MaxU64   max.s64 MaxS64
    min.relu.s32 MinReluS32    max.relu.s32 MaxReluS32   min.u16x2 MinU16x2         max.u16x2 MaxU16x2
    min.s16x2 MinS16x2         max.s16x2 MaxS16x2        min.s16x2.relu MinReluS16x2  max.relu.s16x2 MaxReluS16x2
    add.cc.{u32,s32} AddCc32   add.cc.{u64,s64} AddCc64  addc.u32 Addc32            addc.s64 Addc64
    addc.cc.s32 AddcCc32       addc.cc.u64 AddcCc64      sub.cc.u32 SubCc32         sub.cc.s64 SubCc64
    subc.u32 Subc32            subc.u64 Subc64           subc.cc.u32 SubcCc32       subc.cc.u64 SubcCc64
    mad.lo.cc.{u32,s32} MadLoCc32   mad.lo.cc.u64 MadLoCc64    mad.hi.cc.u32 MadHiCcU32    mad.hi.cc.s32 MadHiCcS32
    mad.hi.cc.u64 MadHiCcU64        mad.hi.cc.s64 MadHiCcS64   madc.lo.{u32,s32} MadcLo32  madc.lo.u64 MadcLo64
    madc.hi.u32 MadcHiU32           madc.hi.s32 MadcHiS32      madc.hi.u64 MadcHiU64       madc.hi.s64 MadcHiS64
    madc.lo.cc.u32 MadcLoCc32       madc.lo.cc.s64 MadcLoCc64  madc.hi.cc.u32 MadcHiCcU32  madc.hi.cc.s32 MadcHiCcS32
    madc.hi.cc.u64 MadcHiCcU64      madc.hi.cc.s64 MadcHiCcS64
    and.{b16,b32} And32   and.b64 And64   and.pred AndP   or.{b16,b32} Or32   or.b64 Or64   or.pred OrP
    xor.{b16,b32} Xor32   xor.b64 Xor64   xor.pred XorP
    not.b16 Not16   not.b32 Not32   not.b64 Not64   not.pred NotP   cnot.b16 Cnot16   cnot.b32 Cnot32   cnot.b64 Cnot64
    shl.b16 Shl16   shl.b32 Shl32   shl.b64 Shl64   shr.{u16,b16} ShrU16   shr.{u32,b32} ShrU32   shr.{u64,b64} ShrU64
    shr.s16 ShrS16  shr.s32 ShrS32  shr.s64 ShrS64
    shf.l.clamp.b32 ShfLClamp  shf.l.wrap.b32 ShfLWrap  shf.r.clamp.b32 ShfRClamp  shf.r.wrap.b32 ShfRWrap
    lop3.b32 Lop3   lop3.or.b32 Lop3   lop3.and.b32 Lop3
    prmt.b32 Prmt   prmt.b32.f4e PrmtF4e   prmt.b32.b4e PrmtB4e   prmt.b32.rc8 PrmtRc8   prmt.b32.ecl PrmtEcl
    prmt.b32.ecr PrmtEcr   prmt.b32.rc16 PrmtRc16
    popc.b32 Popc32   popc.b64 Popc64   clz.b32 Clz32   clz.b64 Clz64   brev.b32 Brev32   brev.b64 Brev64   fns.b32 Fns
    bfind.u32 BfindU32   bfind.s32 BfindS32   bfind.u64 BfindU64   bfind.s64 BfindS64
    bfind.shiftamt.u32 BfindShiftamtU32   bfind.shiftamt.s32 BfindShiftamtS32
    bfind.shiftamt.u64 BfindShiftamtU64   bfind.shiftamt.s64 BfindShiftamtS64
    bfe.u32 BfeU32   bfe.s32 BfeS32   bfe.u64 BfeU64   bfe.s64 BfeS64   bfi.b32 Bfi32   bfi.b64 Bfi64
    bmsk.clamp.b32 BmskClamp           bmsk.wrap.b32 BmskWrap
    szext.clamp.u32 SzextClampU32      szext.clamp.s32 SzextClampS32
    szext.wrap.u32 SzextWrapU32        szext.wrap.s32 SzextWrapS32
    dp4a.u32.u32 Dp4aUu      dp4a.u32.s32 Dp4aUs      dp4a.s32.u32 Dp4aSu      dp4a.s32.s32 Dp4aSs
    dp2a.lo.u32.u32 Dp2aLoUu dp2a.lo.u32.s32 Dp2aLoUs dp2a.lo.s32.u32 Dp2aLoSu dp2a.lo.s32.s32 Dp2aLoSs
    dp2a.hi.u32.u32 Dp2aHiUu dp2a.hi.u32.s32 Dp2aHiUs dp2a.hi.s32.u32 Dp2aHiSu dp2a.hi.s32.s32 Dp2aHiSs
    selp.{b16,u16,s16,b32,u32,s32,f32} SelW   selp.{b64,u64,s64,f64} SelQ
    mov.{b16,u16,s16,b32,u32,s32,f32} MovW    mov.{b64,u64,s64,f64} MovQ   mov.pred MovP
    cvt.u64.u32 ZextWQ   cvt.s64.s32 SextWQ   cvt.u32.u64 TruncQW   cvt.s32.u32 MovW   cvt.u16.u32 Zx16
    cvt.u32.u16 Zx16     cvt.u32.s16 Sx16W    cvt.u32.u8 Zx8        cvt.s32.s8 Sx8W    cvt.u16.s8 Sx8H
    cvt.s64.s8 Sx8Q      cvt.s64.s16 Sx16Q    cvt.u64.u8 Zx8Q       cvt.u64.u16 Zx16Q  cvt.u16.u64 Lo16OfQ
    cvt.sat.u32.s32 CvtWW  cvt.sat.u64.s32 CvtWQ  cvt.sat.s32.u64 CvtQW  cvt.sat.s64.u64 CvtQQ  cvt.sat.s64.u32 ZextWQ
";

/// Pairs of an instruction and its operation.
fn table() -> Vec<(String, &'static str)> {
    let words: Vec<&str> = TABLE.split_whitespace().collect();
    let expand = |text: &str| match text.split_once('{') {
        Some((head, rest)) => {
            let (types, tail) = rest.split_once('}').unwrap_or((rest, ""));
            types.split(',').map(|ty| format!("{head}{ty}{tail}")).collect::<Vec<_>>()
        }
        None => vec![text.to_owned()],
    };
    words.chunks(2).flat_map(|pair| expand(pair[0]).into_iter().map(|text| (text, pair[1]))).collect()
}

#[test]
fn instructions_select_their_operations() {
    for (text, op) in table() {
        assert_eq!(selected(&text), op, "{text}");
    }
}

#[test]
fn what_is_not_an_integer_operation_is_left_to_others() {
    for text in [
        "add.f32",
        "add.rn.ftz.f32",
        "mul.f64",
        "neg.f16",
        "abs.bf16x2",
        "min.f32",
        "mad.rn.f32",
        "fma.rn.f64",
        "cvt.rn.f32.s32",
        "cvt.rzi.s32.f32",
        "div.rn.f32",
        "setp.lt.s32",
        "set.eq.u32.s32",
        "slct.u32.s32",
        "ld.global.u32",
        "mul.s32",
        "add.sat.u64",
        "sub.sat.u32",
        "sub.u16x2",
        "neg.s16x2",
        "abs.s16x2",
        "cvt.s8.s32",
        "cvt.f16.f32",
        "add",
        "add.b32",
        "mul.wide.u64",
        "mad.lo.sat.s32",
        "bra.uni",
        "shf.l.clamp.b64",
    ] {
        assert_eq!(selected(text), "", "{text}");
    }
}

/// No row of the table is dead: a PTX instruction leads to each, or one of the other selections does.
#[test]
fn every_operation_can_be_selected() {
    let mut reached: Vec<String> = table().into_iter().map(|(_, op)| op.to_owned()).collect();
    let types = [M::B16, M::B32, M::B64, M::U16, M::U32, M::U64, M::S16, M::S32, M::S64];
    let orders = [M::EQ, M::NE, M::LT, M::LE, M::GT, M::GE, M::LO, M::LS, M::HI, M::HS];
    reached.extend(types.iter().flat_map(|ty| orders.iter().filter_map(|o| compare(*o, *ty, false)).map(named)));
    for (bits, elements) in [(16, 2), (32, 2), (32, 4), (64, 2), (64, 4)] {
        reached.extend(pack(bits, elements).map(|op| named(op.into())));
        reached.extend((0..4).filter_map(|i| unpack(bits, elements, i)).map(|s| named(s.op)));
    }
    reached.extend(int_cvt::convert(M::U8, M::U64, false, 32, Class::Q).map(|s| named(s.op)));
    // For the lowering of `lop3.and`, `lop3.or` and of predicates' selections.
    reached.extend(["NonzeroAnd", "NonzeroOr", "SelP"].map(str::to_owned));
    for op in IntOp::ALL {
        let name = format!("{op:?}");
        assert!(reached.contains(&name), "nothing selects {name}");
    }
}

#[test]
fn comparisons_follow_sign_and_operator() {
    let name = |cmp, ty| compare(cmp, ty, false).map(named).unwrap_or_default();
    assert_eq!(name(M::LT, M::S32), "LtS32");
    assert_eq!(name(M::LO, M::S32), "LtU32");
    assert_eq!(name(M::LT, M::U16), "LtU32");
    assert_eq!(name(M::GE, M::S16), "GeS16");
    assert_eq!(name(M::HS, M::U64), "GeU64");
    assert_eq!(name(M::EQ, M::S16), "EqW");
    assert_eq!(name(M::NE, M::B64), "NeQ");
    assert_eq!(name(M::LT, M::B32), "");
    assert_eq!(name(M::LT, M::F32), "");
    assert_eq!(name(M::LTU, M::S32), "");
    assert_eq!(compare(M::LT, M::S32, true), None);
}

#[test]
fn vectors_unpack_what_they_packed() {
    for (bits, elements) in [(16u32, 2u32), (32, 2), (32, 4), (64, 2), (64, 4)] {
        assert!(pack(bits, elements as usize).is_some());
        assert!((0..elements).all(|i| unpack(bits, elements as usize, i).is_some()));
        assert_eq!(unpack(bits, elements as usize, elements), None);
    }
    assert_eq!(pack(64, 3), None);
    assert_eq!(unpack(128, 2, 0), None);
}

#[test]
fn atomics_have_the_functions_of_the_isa() {
    assert_eq!(atom(M::ADD, M::S32), Some((AtomOp::Add, AtomTy::S32)));
    assert_eq!(atom(M::ADD, M::F32), Some((AtomOp::Add, AtomTy::F32)));
    assert_eq!(atom(M::EXCH, M::U64), Some((AtomOp::Exch, AtomTy::B64)));
    assert_eq!(atom(M::CAS, M::B16), Some((AtomOp::Cas, AtomTy::B16)));
    assert_eq!(atom(M::CAS, M::B128), Some((AtomOp::Cas, AtomTy::B128)));
    assert_eq!(atom(M::MIN, M::BF16X2), Some((AtomOp::Min, AtomTy::Bf16x2)));
    assert_eq!(atom(M::MIN, M::F32), None);
    assert_eq!(atom(M::INC, M::U64), None);
    assert_eq!(atom(M::ADD, M::B32), None);
    assert_eq!(atom(M::AND, M::B16), None);
}
