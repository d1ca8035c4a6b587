//! The instructions that select each operation.

use super::*;
use crate::alu::apply;
use crate::alu::int::{IntCvt, spec};
use crate::program::forms::{Types, Word, forms};
use crate::program::ops::Class;
use crate::program::ops::FloatOp;

/// The operation that an instruction such as `mad.lo.s32` selects, by the first form that it fits.
fn selected(text: &str) -> Option<Selected> {
    let mut names = Names::default();
    let mut words = text.split('.');
    let opcode = Opcode::of(words.next().unwrap_or_default(), &mut names);
    let mods: Vec<M> = words.map(|word| M::of(word, &mut names)).collect();
    forms(opcode).iter().find_map(|form| select(form, &form.fit(&mods, &names).ok()?, &mods))
}

/// The operation's name; empty if there is none.
fn name(text: &str) -> String {
    selected(text).map(|s| named(s.op)).unwrap_or_default()
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
    sub.sat.s32 SubSatS32
    cvt.pack.sat.{u16,s16}.s32 CvtPack16                 cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32 CvtPack
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
    vadd.u32.s32.u32 Vadd    vsub.sat.s32.s32.s32 Vsub   vabsdiff.u32.u32.u32.add Vabsdiff   vmin.s32.s32.s32.max Vmin
    vmax.u32.u32.u32.min Vmax   vshl.u32.s32.u32.clamp Vshl   vshr.s32.s32.u32.wrap.sat.min Vshr   vset.s32.u32.lt.add Vset
    vmad.s32.u32.s32.po.sat.shr15 Vmad
    vadd2.u32.u32.u32 Vadd2  vsub2.s32.s32.s32.sat Vsub2  vavrg2.u32.u32.u32.add Vavrg2  vabsdiff2.s32.s32.s32 Vabsdiff2
    vmin2.u32.u32.u32 Vmin2  vmax2.u32.u32.u32 Vmax2      vset2.u32.s32.ge Vset2
    vadd4.u32.u32.u32 Vadd4  vsub4.s32.s32.s32.sat Vsub4  vavrg4.u32.u32.u32.add Vavrg4  vabsdiff4.s32.s32.s32 Vabsdiff4
    vmin4.u32.u32.u32 Vmin4  vmax4.u32.u32.u32 Vmax4      vset4.s32.s32.ne.add Vset4
    selp.{b16,u16,s16,b32,u32,s32,f32} SelW   selp.{b64,u64,s64,f64} SelQ
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
        assert_eq!(name(&text), op, "{text}");
    }
}

#[test]
fn common_instructions_have_their_own_operations() {
    use FloatOp as F;
    let rows = [
        ("add.f32", F::AddF32),
        ("add.rn.ftz.f32", F::AddFtzF32),
        ("sub.f32", F::SubF32),
        ("mul.rn.f32", F::MulF32),
        ("fma.rn.f32", F::FmaF32),
        ("mad.rn.ftz.f32", F::FmaFtzF32),
        ("div.rn.f32", F::DivF32),
        ("div.full.ftz.f32", F::DivFtzF32),
        ("rcp.approx.f32", F::RcpF32),
        ("sqrt.rn.f32", F::SqrtF32),
        ("rsqrt.approx.ftz.f32", F::RsqrtFtzF32),
        ("neg.ftz.f32", F::NegFtzF32),
        ("max.f32", F::MaxF32),
        ("add.f64", F::AddF64),
        ("fma.rn.f64", F::FmaF64),
        ("rcp.approx.ftz.f64", F::RcpGrossF64),
        ("rsqrt.approx.f64", F::RsqrtF64),
        ("cvt.rn.f32.s32", F::F32OfS32),
        ("cvt.rzi.s32.f32", F::S32OfF32),
        ("cvt.rzi.ftz.u32.f32", F::U32OfF32),
        ("cvt.rzi.s64.f64", F::S64OfF64),
        ("cvt.f64.f32", F::F64OfF32),
        ("cvt.ftz.f64.f32", F::F64OfF32Ftz),
        ("cvt.rn.f32.f64", F::F32OfF64),
        ("cvt.f32.f16", F::F32OfF16),
        ("cvt.rn.f16.f32", F::F16OfF32),
        ("cvt.rn.bf16.f32", F::Bf16OfF32),
        ("copysign.f64", F::CopysignF64),
    ];
    for (text, op) in rows {
        assert_eq!(selected(text), Some(op.into()), "{text}");
    }
}

#[test]
fn other_instructions_carry_their_modifiers() {
    use FloatOp as F;
    let mode = FMode::default();
    let rows = [
        ("add.rz.ftz.sat.f32", F::AddModeF32, FMode::FTZ.with(FMode::SAT).rounded(Rounding::Zero)),
        ("fma.rp.f64", F::FmaModeF64, mode.rounded(Rounding::Up)),
        ("fma.rm.f32x2", F::FmaF32x2, mode.rounded(Rounding::Down)),
        ("div.approx.ftz.f32", F::DivApproxF32, FMode::FTZ),
        ("min.NaN.xorsign.abs.f32", F::MinModeF32, FMode::NAN.with(FMode::XORSIGN).with(FMode::ABS)),
        ("fma.rn.relu.bf16x2", F::FmaHalf, FMode::RELU.with(FMode::PACKED).to(Num::Bf16)),
        ("ex2.approx.ftz.bf16x2", F::Ex2Half, FMode::FTZ.with(FMode::PACKED).to(Num::Bf16)),
        ("add.rn.f32.bf16", F::AddMixed, mode.from(Num::Bf16).to(Num::F32)),
        ("testp.subnormal.f64", F::TestpF64, FMode::testing(Property::Subnormal)),
        ("cvt.rni.s8.f16", F::CvtWW, FMode::INTEGRAL.to(Num::S8).from(Num::F16)),
        ("cvt.rz.f32.u64", F::CvtQW, mode.rounded(Rounding::Zero).to(Num::F32).from(Num::U64)),
        ("cvt.rn.satfinite.e4m3x2.f32", F::CvtPack, FMode::SATFINITE.to(Num::E4m3).from(Num::F32)),
        ("cvt.rn.f16x2.e5m2x2", F::CvtPair, mode.to(Num::F16).from(Num::E5m2)),
        ("cvt.rna.tf32.f32", F::CvtWW, mode.rounded(Rounding::NearestAway).to(Num::Tf32).from(Num::F32)),
        ("cvt.rs.f16x2.f32", F::CvtPackRandom, mode.rounded(Rounding::Stochastic).to(Num::F16).from(Num::F32)),
    ];
    for (text, op, mode) in rows {
        assert_eq!(selected(text), Some(Selected { op: op.into(), mode: mode.0 }), "{text}");
    }
}

#[test]
fn what_selection_does_not_know_is_left() {
    for text in ["cvt.u32.u8", "mov.u32", "ld.global.u32", "bra.uni", "mul.s32", "add.b32", "mad.lo.sat.s32"] {
        assert_eq!(selected(text), None, "{text}");
    }
}

/// The types and modifiers of all instructions of a form.
fn instructions(form: &Form) -> Vec<(Types, Vec<M>)> {
    let mut all = vec![(Types::new(), Vec::new())];
    for (slot, is_type) in
        form.heads.iter().chain(&form.flags).map(|s| (s, false)).chain(form.types.iter().map(|s| (s, true)))
    {
        let words = slot.words.iter().filter_map(|word| if let Word::Known(m) = word { Some(Some(*m)) } else { None });
        let words: Vec<Option<M>> = words.chain(slot.optional.then_some(None)).collect();
        let with = |(types, mods): &(Types, Vec<M>), word: Option<M>| {
            let mut one = (types.clone(), mods.clone());
            one.1.extend(word);
            one.0.extend(word.filter(|_| is_type));
            one
        };
        all = all.iter().flat_map(|one| words.iter().map(move |word| with(one, *word))).collect();
    }
    all
}

/// Every type and modifier of a form leads to one of its operations, and every operation is reached.
#[test]
fn forms_and_operations_cover_each_other() {
    let mut reached: Vec<String> = Vec::new();
    for form in Opcode::known().iter().flat_map(|text| forms(Opcode::of(text, &mut Names::default()))) {
        let computes =
            !form.choices.is_empty() || matches!(form.opcode, Opcode::SETP | Opcode::SET | Opcode::SLCT | Opcode::CVT);
        if !computes {
            continue;
        }
        for (types, mods) in instructions(form) {
            match select(form, &types, &mods) {
                Some(selected) => reached.push(named(selected.op)),
                // Between integers it depends on the registers; some formats are not executed.
                None => assert_eq!(form.opcode, Opcode::CVT, "{types:?} {mods:?}"),
            }
        }
    }
    for (bits, elements) in [(16, 2), (32, 2), (32, 4), (64, 2), (64, 4)] {
        reached.extend(pack(bits, elements).map(|op| named(op.into())));
        reached.extend((0..4).filter_map(|i| unpack(bits, elements, i)).map(|s| named(s.op)));
    }
    for to in [M::U8, M::S8, M::U16, M::S16, M::U32, M::S32, M::U64, M::S64] {
        for from in [M::U8, M::S8, M::U16, M::S16, M::U32, M::S32, M::U64, M::S64] {
            for (bits, class) in [16, 32, 64].into_iter().flat_map(|bits| [(bits, Class::W), (bits, Class::Q)]) {
                for sat in [false, true] {
                    reached.extend(int_cvt::convert(to, from, sat, bits, class).map(|s| named(s.op)));
                }
            }
        }
    }
    // For the lowering of `lop3.and`, `lop3.or` and of moves and selections of predicates.
    reached.extend(["NonzeroAnd", "NonzeroOr", "SelP", "MovP"].map(str::to_owned));
    let all = IntOp::ALL.iter().map(|op| AluOp::Int(*op)).chain(FloatOp::ALL.iter().map(|op| AluOp::Float(*op)));
    for name in all.map(named) {
        assert!(reached.contains(&name), "nothing selects {name}");
    }
}

#[test]
fn comparisons_follow_sign_and_operator() {
    let rows = [
        ("setp.lt.s32", "LtS32"),
        ("setp.lo.u32", "LtU32"),
        ("setp.lt.u16", "LtU32"),
        ("setp.ge.s16", "GeS16"),
        ("setp.hs.u64", "GeU64"),
        ("setp.eq.s16", "EqW"),
        ("set.ne.u32.b64", "NeQ"),
        ("slct.ftz.u32.f32", "GeFtzF32"),
        ("setp.geu.ftz.f32", "GeuFtzF32"),
        ("setp.nan.f64", "NanF64"),
        ("setp.eq.ftz.f16x2", "CmpFtzF16"),
        ("setp.num.bf16", "CmpBf16"),
        // Modifiers come in any order.
        ("setp.s32.and.eq", "EqW"),
    ];
    for (text, op) in rows {
        assert_eq!(name(text), op, "{text}");
    }
}

/// The mode of a comparison of half precision has the relations for which the one of single precision holds.
#[test]
fn comparisons_of_half_precision_hold_as_those_of_single_precision() {
    let words = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];
    // One and two, and NaN, in bf16; in f32 they are the upper half.
    for (word, a, b) in words.into_iter().flat_map(|w| [0x3f80, 0x4000, 0x7fc0].map(|a| (w, a, 0x3f80u64))) {
        let holds = |ty: &str, shift: u32| {
            let Selected { op: AluOp::Float(op), mode } = selected(&format!("setp.{word}.{ty}"))? else { return None };
            Some(apply::float(op, [a << shift, b << shift, 0, 0], mode).0)
        };
        assert!(holds("bf16", 0).is_some() && holds("bf16", 0) == holds("f32", 16), "{word} {a:x} {b:x}");
        assert_eq!(apply::float(FloatOp::CmpF16, [b, a, 0, 0], 0).0, 0);
    }
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
fn atomics_have_their_functions_and_types() {
    assert_eq!(atom(&[M::ADD, M::S32], M::S32), Some((AtomOp::Add, AtomTy::S32)));
    assert_eq!(atom(&[M::GLOBAL, M::CAS, M::B128], M::B128), Some((AtomOp::Cas, AtomTy::B128)));
    assert_eq!(atom(&[M::MIN, M::NOFTZ, M::BF16X2], M::BF16X2), Some((AtomOp::Min, AtomTy::Bf16x2)));
    assert_eq!(atom(&[M::GLOBAL, M::F32], M::F32), None);
}

/// All conversions between integers, with 8- and 16-bit sources completely.
#[test]
fn conversions_agree_with_their_definition() {
    let types = [M::U8, M::S8, M::U16, M::S16, M::U32, M::S32, M::U64, M::S64];
    let types = types.map(|ty| (ty, type_info(ty).map_or(0, |i| u32::from(i.bits)), is_signed(ty)));
    let corners: Vec<u64> = (0..64).flat_map(|b| [1 << b, (1 << b) - 1, !(1 << b), (1 << b) + 1]).collect();
    for ((to, to_bits, to_signed), (from, from_bits, from_signed)) in
        types.into_iter().flat_map(|t| types.map(|f| (t, f)))
    {
        for (sat, register_bits, source) in [false, true].into_iter().flat_map(|sat| {
            [16, 32, 64].into_iter().flat_map(move |r| [Class::W, Class::Q].map(|class| (sat, r, class)))
        }) {
            let fits = to_bits <= register_bits && (from_bits < 64 || source == Class::Q);
            let Some(selected) = int_cvt::convert(to, from, sat, register_bits, source) else {
                assert!(!fits);
                continue;
            };
            assert!(fits);
            let AluOp::Int(op) = selected.op else { panic!("{selected:?} is not an integer operation") };
            let want = IntCvt { from_bits, from_signed, to_bits, to_signed, sat, register_bits };
            let check = |a: u64| {
                let got = apply::int(op, [a, 0, 0, 0], selected.mode).0;
                assert!(got == spec::convert(a, want), "{want:?} of {a:#x} by {op:?}: {got:#x}");
            };
            corners.iter().for_each(|a| check(if source == Class::W { a & 0xffff_ffff } else { *a }));
            if from_bits <= 16 && source == Class::W {
                (0..1 << from_bits).for_each(check);
            }
        }
    }
}
