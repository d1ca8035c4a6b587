//! Which instruction sets a run is compiled for.

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
use pulp::x86::{V3, V4};
use pulp::{Scalar, Simd, WithSimd};

/// Whether an instruction set has vector units. A constant of its own, since only then is the other branch of an `if` not
/// even compiled.
pub trait Vectors {
    /// They are there.
    const VECTORS: bool;
}

impl<V: Simd> Vectors for V {
    const VECTORS: bool = V::F32_LANES > 1;
}

/// Instruction sets. Each costs seconds of compile time for each control model and observer.
pub trait Tier {
    /// Runs on them.
    fn run<G: WithSimd>(go: G) -> G::Output;
}

/// What the compiler was told to expect of every processor.
pub struct Baseline;
/// Vectors of 256 bits at most: for code so large that a copy of it for wider ones is not worth its compile time.
pub struct Middle;
/// The best of what this processor has.
pub struct Best;

impl Tier for Baseline {
    fn run<G: WithSimd>(go: G) -> G::Output {
        go.with_simd(Scalar::new())
    }
}

impl Tier for Middle {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    #[inline(always)]
    fn run<G: WithSimd>(go: G) -> G::Output {
        match V3::try_new() {
            // Its own method of this name takes closures.
            Some(simd) => Simd::vectorize(simd, go),
            None => plainly(go),
        }
    }

    /// Elsewhere there are none that are wider.
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    fn run<G: WithSimd>(go: G) -> G::Output {
        Best::run(go)
    }
}

impl Tier for Best {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    #[inline(always)]
    fn run<G: WithSimd>(go: G) -> G::Output {
        if let Some(simd) = V4::try_new() {
            Simd::vectorize(simd, go)
        } else if let Some(simd) = V3::try_new() {
            Simd::vectorize(simd, go)
        } else {
            plainly(go)
        }
    }

    #[cfg(not(any(target_arch = "x86_64", debug_assertions)))]
    fn run<G: WithSimd>(go: G) -> G::Output {
        pulp::Arch::new().dispatch(go)
    }

    /// Debug builds are for finding bugs, and must compile quickly.
    #[cfg(debug_assertions)]
    fn run<G: WithSimd>(go: G) -> G::Output {
        Baseline::run(go)
    }
}

impl Best {
    /// Hands it over without being compiled for it: to what enters a function that is. Only native code asks, which is for x86-64 alone.
    #[inline(always)]
    pub fn hand<G: WithSimd>(go: G) -> G::Output {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        if let Some(simd) = V4::try_new() {
            return go.with_simd(simd);
        } else if let Some(simd) = V3::try_new() {
            return go.with_simd(simd);
        }
        go.with_simd(Scalar::new())
    }
}

/// Out of line, so that whoever chooses needs no registers for it.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[cold]
#[inline(never)]
fn plainly<G: WithSimd>(go: G) -> G::Output {
    Baseline::run(go)
}
