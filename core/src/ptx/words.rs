//! The vocabularies of PTX: opcodes and modifiers.
//!
//! A word is a number. Known words that the rest of the crate matches on have constants. The other known opcodes are those
//! that have a form. A word that is not known (a tile shape such as `.m16n8k16`, a misspelt opcode, tomorrow's extension) is
//! interned per module, so that it can be printed, reported and matched by text.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::LazyLock;

/// Words from here on are names of the module.
const INTERNED: u16 = 0x4000;

/// An interned name; [`Names`] gives its text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Name(pub u32);

/// The names of a module in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct Names(IndexSet<Box<str>, FxBuildHasher>);

impl Names {
    /// The id of a text, made when it is new.
    pub fn intern(&mut self, text: &str) -> Name {
        let index = self.0.get_index_of(text).unwrap_or_else(|| self.0.insert_full(text.into()).0);
        Name(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The id of a text that may not occur.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Name> {
        self.0.get_index_of(text).and_then(|i| u32::try_from(i).ok()).map(Name)
    }

    /// The text of a name.
    #[must_use]
    pub fn text(&self, name: Name) -> &str {
        self.0.get_index(name.0 as usize).map_or("", |s| s)
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The tables of forms, one per chapter of the PTX ISA's section 9.7. `program::forms` says what they are; here the first words
/// of their lines are the opcodes that there are.
pub const FORMS: &[&str] = &[
    include_str!("../program/forms/integer.txt"),
    include_str!("../program/forms/float.txt"),
    include_str!("../program/forms/compare.txt"),
    include_str!("../program/forms/move.txt"),
    include_str!("../program/forms/control.txt"),
    include_str!("../program/forms/parallel.txt"),
    include_str!("../program/forms/async.txt"),
    include_str!("../program/forms/tensor.txt"),
    include_str!("../program/forms/texture.txt"),
    include_str!("../program/forms/video.txt"),
];

/// All opcodes that have a form, some of them several times.
fn opcodes() -> impl Iterator<Item = &'static str> {
    let lines = FORMS.iter().flat_map(|table| table.lines());
    lines.filter_map(|line| line.split(' ').next()).filter(|word| !matches!(*word, "" | "#" | "words"))
}

/// The known words of a vocabulary, both ways.
struct Known {
    texts: Vec<&'static str>,
    numbers: FxHashMap<&'static str, u16>,
}

impl Known {
    fn new(words: impl Iterator<Item = &'static str>) -> Self {
        let texts: IndexSet<&str, FxBuildHasher> = words.collect();
        let numbers = texts.iter().copied().zip(0..).collect();
        Self { texts: texts.into_iter().collect(), numbers }
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($constant:ident $text:literal)* } and $others:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub struct $name(u16);

        #[expect(missing_docs, reason = "each word is its own documentation")]
        const _: () = {
            #[allow(non_camel_case_types, dead_code, clippy::upper_case_acronyms)]
            enum Index { $($constant),* }
            impl $name { $(pub const $constant: Self = Self(Index::$constant as u16);)* }
        };

        impl $name {
            fn table() -> &'static Known {
                static TABLE: LazyLock<Known> = LazyLock::new(|| Known::new([$($text),*].into_iter().chain($others)));
                &TABLE
            }

            /// Every known word, in the order of its number.
            #[must_use]
            pub fn known() -> &'static [&'static str] {
                &Self::table().texts
            }

            /// The word of a text without its leading dot; an unknown one is interned in `names`.
            pub fn of(text: &str, names: &mut Names) -> Self {
                if let Some(index) = Self::table().numbers.get(text) {
                    return Self(*index);
                }
                // A module with more than 49,151 names before its last unknown word is beyond what one can print back.
                let name = names.intern(text).0;
                Self(u16::try_from(name).ok().and_then(|n| n.checked_add(INTERNED)).unwrap_or(u16::MAX))
            }

            /// Whether the word is one of [`Self::known`].
            #[must_use]
            pub const fn is_known(self) -> bool {
                self.0 < INTERNED
            }

            /// The word's text without a leading dot.
            #[must_use]
            pub fn text(self, names: &Names) -> &str {
                if self.is_known() { Self::known()[self.0 as usize] } else { names.text(Name(u32::from(self.0 - INTERNED))) }
            }
        }
    };
}

words! {
    /// An opcode: the first word of an instruction. Those are named here that the rest of the crate tells apart.
    Opcode {
        ACTIVEMASK "activemask" ADDC "addc" ALLOCA "alloca" APPLYPRIORITY "applypriority" ATOM "atom" BAR "bar"
        BARRIER "barrier" BFE "bfe" BFI "bfi" BRA "bra" BRKPT "brkpt" BRX "brx" CALL "call" CP "cp"
        CREATEPOLICY "createpolicy" CVT "cvt" CVTA "cvta" DISCARD "discard" ELECT "elect" EXIT "exit" FENCE "fence"
        GETCTARANK "getctarank" GRIDDEPCONTROL "griddepcontrol" ISSPACEP "isspacep" ISTYPEP "istypep" LD "ld" LDMATRIX "ldmatrix" LDU "ldu" LOP3 "lop3"
        MAD "mad" MAD24 "mad24" MADC "madc" MAPA "mapa" MATCH "match" MBARRIER "mbarrier" MEMBAR "membar" MMA "mma" MOV "mov" MOVMATRIX "movmatrix" NANOSLEEP "nanosleep"
        PMEVENT "pmevent" PREFETCH "prefetch" PREFETCHU "prefetchu" RED "red" REDUX "redux" RET "ret" SET "set"
        SETMAXNREG "setmaxnreg" SETP "setp" SHFL "shfl" SHL "shl" SHR "shr" SLCT "slct" ST "st"
        STACKRESTORE "stackrestore" STACKSAVE "stacksave" STMATRIX "stmatrix" SUBC "subc" SULD "suld" SUQ "suq" SURED "sured"
        SUST "sust" TEX "tex" TLD4 "tld4" TRAP "trap" TXQ "txq" VMAD "vmad" VOTE "vote" WMMA "wmma"
    } and opcodes()
}

words! {
    /// A modifier: a word that follows a dot, types included.
    Modifier {
        U8 "u8" U16 "u16" U32 "u32" U64 "u64" S8 "s8" S16 "s16" S32 "s32" S64 "s64" B1 "b1" B8 "b8" B16 "b16"
        B32 "b32" B64 "b64" B128 "b128" B1024 "b1024" F16 "f16" F16X2 "f16x2" F32 "f32" F32X2 "f32x2" F64 "f64"
        BF16 "bf16" BF16X2 "bf16x2" TF32 "tf32" PRED "pred" U16X2 "u16x2" S16X2 "s16x2" U4 "u4" S4 "s4" U8X4 "u8x4"
        S8X4 "s8x4" B16X2 "b16x2" B2 "b2" B4 "b4" E4M3 "e4m3" E5M2 "e5m2" E4M3X2 "e4m3x2" E5M2X2 "e5m2x2"
        E4M3X4 "e4m3x4" E5M2X4 "e5m2x4" E2M1 "e2m1" E2M1X2 "e2m1x2" E2M1X4 "e2m1x4" E2M3 "e2m3" E2M3X2 "e2m3x2"
        E2M3X4 "e2m3x4" E3M2 "e3m2" E3M2X2 "e3m2x2" E3M2X4 "e3m2x4" UE8M0 "ue8m0" UE8M0X2 "ue8m0x2" UE4M3 "ue4m3"
        UE4M3X2 "ue4m3x2" S2F6X2 "s2f6x2" TEXREF "texref" SAMPLERREF "samplerref" SURFREF "surfref" V2 "v2" V4 "v4"
        V8 "v8" X1 "x1" X2 "x2" X4 "x4" REG "reg" SREG "sreg" CONST "const" GLOBAL "global" LOCAL "local"
        PARAM "param" SHARED "shared" GENERIC "generic" PARAM_ENTRY "param::entry" PARAM_FUNC "param::func"
        SHARED_CTA "shared::cta" SHARED_CLUSTER "shared::cluster" TEX "tex" RN "rn" RZ "rz" RM "rm" RP "rp" RNI "rni"
        RZI "rzi" RMI "rmi" RPI "rpi" RNA "rna" RS "rs" APPROX "approx" FULL "full" FTZ "ftz" NOFTZ "noftz" SAT "sat"
        SATFINITE "satfinite" RELU "relu" SYNC "sync" ALIGNED "aligned" EQ "eq" NE "ne" LT "lt" LE "le" GT "gt"
        GE "ge" LO "lo" LS "ls" HI "hi" HS "hs" EQU "equ" NEU "neu" LTU "ltu" LEU "leu" GTU "gtu" GEU "geu" NUM "num"
        NAN_CMP "nan" AND "and" OR "or" XOR "xor" NOT "not" ADD "add" SUB "sub" MIN "min" MAX "max" INC "inc"
        DEC "dec" EXCH "exch" CAS "cas" POPC "popc" MUL "mul" WIDE "wide" CC "cc" TO "to" UNI "uni" FINITE "finite"
        INFINITE "infinite" NUMBER "number" NOTANUMBER "notanumber" NORMAL "normal" SUBNORMAL "subnormal" L "l" R "r"
        CLAMP "clamp" WRAP "wrap" SHIFTAMT "shiftamt" F4E "f4e" B4E "b4e" RC8 "rc8" ECL "ecl" ECR "ecr" RC16 "rc16"
        UP "up" DOWN "down" BFLY "bfly" IDX "idx" ALL "all" ANY "any" BALLOT "ballot" ARRIVE "arrive" RED "red"
        CTA "cta" CLUSTER "cluster" GPU "gpu" SYS "sys" GL "gl" SC "sc" ACQ_REL "acq_rel" ACQUIRE "acquire"
        RELEASE "release" RELAXED "relaxed" WEAK "weak" VOLATILE "volatile" MMIO "mmio" CA "ca" CG "cg" CS "cs"
        LU "lu" CV "cv" WB "wb" WT "wt" NC "nc" UNIFIED "unified" LEVEL_EVICTION_PRIORITY "level::eviction_priority"
        L1_EVICT_NORMAL "L1::evict_normal" L1_EVICT_UNCHANGED "L1::evict_unchanged" L1_EVICT_FIRST "L1::evict_first"
        L1_EVICT_LAST "L1::evict_last" L1_NO_ALLOCATE "L1::no_allocate" L2_EVICT_NORMAL "L2::evict_normal"
        L2_EVICT_FIRST "L2::evict_first" L2_EVICT_LAST "L2::evict_last" L2_EVICT_UNCHANGED "L2::evict_unchanged"
        L2_CACHE_HINT "L2::cache_hint" L2_64B "L2::64B" L2_128B "L2::128B" L2_256B "L2::256B" L1 "L1" L2 "L2"
        PROXY "proxy" ALIAS "alias" ASYNC "async" ASYNC_GLOBAL "async::global" ASYNC_SHARED_CTA "async::shared::cta"
        ASYNC_SHARED_CLUSTER "async::shared::cluster" ASYNC_GENERIC "async::generic" TENSORMAP "tensormap"
        TENSORMAP_GENERIC "tensormap::generic" MBARRIER_INIT "mbarrier_init"
        SYNC_RESTRICT_SHARED_CTA "sync_restrict::shared::cta"
        SYNC_RESTRICT_SHARED_CLUSTER "sync_restrict::shared::cluster" OP_RESTRICT "op_restrict" ABS "abs"
        NAN_PROPAGATE "NaN" XORSIGN "xorsign" CMP "cmp" H0 "h0" H1 "h1" B0 "b0" B3 "b3" H00 "h00" PO "po" SHR7 "shr7"
        SHR15 "shr15" OOB "oob" SCALED "scaled::n2::ue8m0" COMMIT_GROUP "commit_group" WAIT_GROUP "wait_group" WAIT_ALL "wait_all" BULK "bulk"
        TENSOR "tensor" MBARRIER "mbarrier" INIT "init" INVAL "inval" ARRIVE_DROP "arrive_drop" TEST_WAIT "test_wait"
        TRY_WAIT "try_wait" EXPECT_TX "expect_tx" COMPLETE_TX "complete_tx" PENDING_COUNT "pending_count"
        NOCOMPLETE "noComplete" PARITY "parity" NOINC "noinc" MBARRIER_ARRIVE_ONE "mbarrier::arrive::one"
        MBARRIER_ARRIVE "mbarrier::arrive" MBARRIER_COMPLETE_TX_BYTES "mbarrier::complete_tx::bytes"
        MBARRIER_COMPLETE_TX "mbarrier::complete_tx" MULTICAST_CLUSTER "multicast::cluster"
        MULTICAST_CLUSTER_ALL "multicast::cluster::all" REDUCE "reduce" PREFETCH "prefetch" BULK_GROUP "bulk_group"
        READ "read" WAIT "wait" COMMIT "commit" LOAD "load" STORE "store" MMA "mma" A "a" B "b" C "c" D "d"
        TRANS "trans" ROW "row" COL "col" ALLOC "alloc" DEALLOC "dealloc" LD "ld" ST "st" CP "cp" SHIFT "shift"
        FENCE "fence" MMA_ASYNC "mma_async" RELINQUISH_ALLOC_PERMIT "relinquish_alloc_permit"
        CTA_GROUP_1 "cta_group::1" CTA_GROUP_2 "cta_group::2" D1D "1d" D2D "2d" D3D "3d" A1D "a1d" A2D "a2d"
        D2DMS "2dms" A2DMS "a2dms" CUBE "cube" ACUBE "acube" LEVEL "level" GRAD "grad" BASE "base" ZERO "zero"
        TRAP "trap" TILE "tile" IM2COL "im2col" WIDTH "width" HEIGHT "height" DEPTH "depth"
        CHANNEL_DATA_TYPE "channel_data_type" CHANNEL_ORDER "channel_order" NORMALIZED_COORDS "normalized_coords"
        ARRAY_SIZE "array_size" NUM_MIPMAP_LEVELS "num_mipmap_levels" NUM_SAMPLES "num_samples"
        ADDR_MODE_0 "addr_mode_0" ADDR_MODE_1 "addr_mode_1" ADDR_MODE_2 "addr_mode_2" FILTER_MODE "filter_mode"
        FORCE_UNNORMALIZED_COORDS "force_unnormalized_coords" MEMORY_LAYOUT "memory_layout" P "p"
        QUERY_CANCEL "query_cancel" IS_CANCELED "is_canceled" TRY_CANCEL "try_cancel"
        GET_FIRST_CTAID "get_first_ctaid" GET_FIRST_CTAID_X "get_first_ctaid::x"
        GET_FIRST_CTAID_Y "get_first_ctaid::y" GET_FIRST_CTAID_Z "get_first_ctaid::z"
        LAUNCH_DEPENDENTS "launch_dependents" FRACTIONAL "fractional" RANGE "range" LD_REDUCE "ld_reduce"
        ACC_F16 "acc::f16" ACC_F32 "acc::f32" SP "sp" SPFORMAT "spformat" REPLACE "replace" BLOCK_SCALE "block_scale"
        KIND_MXF8F6F4 "kind::mxf8f6f4" KIND_F8F6F4 "kind::f8f6f4" KIND_MXF4 "kind::mxf4"
        KIND_MXF4NVF4 "kind::mxf4nvf4" KIND_F16 "kind::f16" KIND_TF32 "kind::tf32" KIND_I8 "kind::i8"
        SCALE_VEC_1X "scale_vec::1X" SCALE_VEC_2X "scale_vec::2X" SCALE_VEC_4X "scale_vec::4X"
        PACK "pack" U2 "u2" S2 "s2"
    } and []
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_words_keep_their_text() {
        let mut names = Names::default();
        assert_eq!(Modifier::of("s32", &mut names), Modifier::S32);
        assert_eq!(Modifier::of("shared::cta", &mut names), Modifier::SHARED_CTA);
        let odd = Modifier::of("m16n8k16", &mut names);
        assert!(!odd.is_known());
        assert_eq!(odd.text(&names), "m16n8k16");
        assert_eq!(Opcode::of("mad24", &mut names), Opcode::MAD24);
    }
}
