//! NaNs of 64 bits, looked for once behind many operations.
//!
//! What a NaN of 64 bits carries is that of a source (D-nan64), and the processor chooses another source. But a result that is a number
//! had no source that was none. So operations are made as the processor has them, and it is looked at the results whether any of them
//! is no number: at those alone that no later operation goes on with, which would be none either. Then all is computed once more, NaN
//! by NaN. That has to be known before anything is stored: strips are cut into spans there.

use super::super::each::What;
use super::super::forms::{Way, results, sources};
use super::super::ops::{Ops, moded};
use super::builder::{Emit, Nans, Strip, Word};
use crate::alu::float::FloatOp as F;
use crate::base::mutant::{Mutant, on};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Instructions in strips up to a store, or one store.
pub(super) struct Span {
    instrs: Vec<usize>,
    /// Operations whose NaNs a later one of the span has, too.
    told_later: BTreeSet<usize>,
    /// Registers that it writes by operations and that are read behind it.
    written: Vec<usize>,
    /// Whether there are operations whose NaNs matter.
    looks: bool,
}

/// An operation that makes a NaN of a NaN, and not the right one perhaps.
fn goes_on(op: Ops, mode: u32) -> bool {
    use F::{AddF64, DivF64, FmaF64, MulF64, RcpF64, SqrtF64, SubF64};
    matches!(op, Ops::Float(of) if matches!(of, AddF64 | SubF64 | MulF64 | FmaF64 | DivF64 | SqrtF64 | RcpF64)
        && moded(op, mode).is_none())
}

impl Emit<'_, '_> {
    /// The spans of instructions in strips; `vectors` are read behind all.
    pub(super) fn spans(&self, strips: &[usize], vectors: &[usize]) -> Vec<Span> {
        let mut spans: Vec<Vec<usize>> = vec![Vec::new()];
        for k in strips {
            let apart = match self.plan.ways[*k] {
                Way::StoreRow => true,
                Way::OfFrame => self.plan.of_frame(*k, self.env).is_none_or(|access| !access.load),
                Way::Each => self.each(*k).is_none_or(|each| !matches!(each.what, What::Load)),
                _ => false,
            };
            if apart {
                spans.extend([vec![*k], Vec::new()]);
            } else if let Some(span) = spans.last_mut() {
                span.push(*k);
            }
        }
        spans.retain(|span| !span.is_empty());
        let behind = |at: usize| spans.iter().skip(at + 1).flatten().copied().collect::<Vec<_>>();
        (0..spans.len()).map(|at| self.span_of(spans[at].clone(), &behind(at), vectors)).collect()
    }

    fn span_of(&self, instrs: Vec<usize>, behind: &[usize], vectors: &[usize]) -> Span {
        let of = |k: usize| sources(&self.plan.code[k], self.env, &self.plan.function);
        let to = |k: usize| results(&self.plan.code[k], self.env, &self.plan.function);
        let goes_on = |k: usize| {
            let i = &self.plan.code[k];
            self.plan.ways[k] == Way::Strip && Ops::of(i).is_some_and(|op| goes_on(op, i.imm))
        };
        let guarded = |k: usize| self.plan.code[k].guard.is_some();
        let told_later = |at: usize| {
            let result = to(instrs[at]);
            let later = instrs[at + 1..].iter().find(|k| {
                let reads = goes_on(**k) && of(**k).iter().any(|n| result.contains(n));
                reads || !guarded(**k) && to(**k).iter().any(|n| result.contains(n))
            });
            later.is_some_and(|k| goes_on(*k) && of(*k).iter().any(|n| result.contains(n)))
        };
        let told_later = (0..instrs.len()).filter(|at| goes_on(instrs[*at]) && told_later(*at));
        let told_later = told_later.map(|at| instrs[at]).collect();
        let read = |n: &usize| {
            vectors.contains(n) || behind.iter().any(|k| of(*k).contains(n) || guarded(*k) && to(*k).contains(n))
        };
        let written: BTreeSet<usize> =
            instrs.iter().filter(|k| self.plan.ways[**k] == Way::Strip).flat_map(|k| to(*k)).filter(read).collect();
        let looks = instrs.iter().any(|k| goes_on(*k));
        Span { instrs, told_later, written: written.into_iter().collect(), looks }
    }

    /// The instructions of a span in one strip.
    pub(super) fn span(
        &mut self,
        span: &Span,
        s: usize,
        now: &mut FxHashMap<usize, Strip>,
        bits: &mut BTreeMap<usize, Value>,
    ) {
        if !span.looks {
            span.instrs.iter().for_each(|k| self.strip(*k, s, now, bits));
            return;
        }
        let before = (now.clone(), bits.clone());
        self.segment.nans.raw = true;
        let mut loaded: BTreeMap<usize, Vec<(usize, Strip)>> = BTreeMap::new();
        for k in &span.instrs {
            self.segment.nans.told_later = span.told_later.contains(k);
            self.strip(*k, s, now, bits);
            if matches!(self.plan.ways[*k], Way::LoadRow | Way::Each | Way::OfFrame) {
                let to = results(&self.plan.code[*k], self.env, &self.plan.function);
                let values = to.into_iter().filter_map(|n| Some((n, *now.get(&n)?)));
                loaded.insert(*k, values.collect());
            }
        }
        let Nans { none, .. } = std::mem::take(&mut self.segment.nans);
        let Some(none) = none else { return };
        let any = self.b.ins().vany_true(none);
        let (rare, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(rare);
        let changed: Vec<usize> =
            bits.iter().filter(|(k, value)| before.1.get(k) != Some(value)).map(|(k, _)| *k).collect();
        let values = self.values_of(span, now, (&changed, bits));
        self.b.ins().brif(any, rare, &[], done, &arguments(&values));
        self.b.switch_to_block(rare);
        let kept = self.segment.splats.clone();
        let (mut other, mut other_bits) = before;
        for k in &span.instrs {
            match loaded.get(k) {
                Some(values) => other.extend(values.iter().copied()),
                None => self.strip(*k, s, &mut other, &mut other_bits),
            }
        }
        self.segment.splats = kept;
        let others = self.values_of(span, &other, (&changed, &other_bits));
        self.b.ins().jump(done, &arguments(&others));
        self.b.switch_to_block(done);
        let types: Vec<_> = values.iter().map(|value| self.b.func.dfg.value_type(*value)).collect();
        let mut settled =
            types.into_iter().map(|ty| self.b.append_block_param(done, ty)).collect::<Vec<_>>().into_iter();
        let mut next = |value: &mut Value| *value = settled.next().unwrap_or(*value);
        for n in &span.written {
            now.get_mut(n).into_iter().flat_map(values_in).for_each(&mut next);
        }
        for k in &changed {
            bits.get_mut(k).into_iter().for_each(&mut next);
        }
    }

    /// The values that a span leaves.
    fn values_of(
        &self,
        span: &Span,
        now: &FxHashMap<usize, Strip>,
        (changed, bits): (&[usize], &BTreeMap<usize, Value>),
    ) -> Vec<Value> {
        let written = span.written.iter().filter_map(|n| now.get(n).copied());
        let of_strips = written.flat_map(|mut strip| values_in(&mut strip).into_iter().map(|v| *v).collect::<Vec<_>>());
        of_strips.chain(changed.iter().filter_map(|k| bits.get(k).copied())).collect()
    }

    /// Whether operations are made as the processor has them; then their results are to be looked at.
    pub(super) const fn is_raw(&self) -> bool {
        self.segment.nans.raw
    }

    /// Looks whether four results are numbers, unless a later one tells.
    pub(super) fn look_at(&mut self, pairs: [Value; 2]) {
        if self.segment.nans.told_later || on(Mutant::NativeNans) {
            return;
        }
        let reals = pairs.map(|pair| self.reinterpret(types::F64X2, pair));
        let none = self.b.ins().fcmp(FloatCC::Unordered, reals[0], reals[1]);
        let all = match self.segment.nans.none {
            Some(others) => self.b.ins().bor(others, none),
            None => none,
        };
        self.segment.nans.none = Some(all);
    }
}

fn arguments(values: &[Value]) -> Vec<BlockArg> {
    values.iter().copied().map(BlockArg::Value).collect()
}

fn values_in(strip: &mut Strip) -> Vec<&mut Value> {
    match strip {
        Strip::W(Word { value, .. }) | Strip::P(value) => vec![value],
        Strip::Q(pairs) => pairs.iter_mut().collect(),
    }
}
