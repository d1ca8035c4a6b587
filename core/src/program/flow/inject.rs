//! Step 6 of `load` (report, 5.1.3): injects `ssy` and `sync` so that the code is stack consistent (6.2).
//!
//! Source: decision D-inject. Every branch has the smallest region (`regions`) around it; a region that some branch
//! needs gets one `ssy` where it is entered and one `sync` where it is left, and the `ssy` names the instruction after that
//! `sync`. Branches themselves push only diverge tokens, at most lanes − 1 in a region. A branch without a region (its
//! lanes leave the function in different places) gets nothing: `ret` and `exit` bring its lanes together.
//!
//! Where a loop is left by branches that lead to the `sync` at once, `preBrk` and `break` take the places of `ssy`, `sync`
//! and branches (`breaks`). `preRet` comes with the calls.

use super::breaks::break_loops;
use super::graph::{Block, Edge, EdgeKind, Ending, Graph, index};
use super::merges::Join;
use super::regions::{Place, Regions};
use crate::base::{Pc, sort};
use crate::program::env::{Init, Origin};
use crate::program::fncode::FnCode;
use crate::program::instr::{Instr, Op};
use rustc_hash::FxHashMap;

/// Code with injected instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Injected {
    /// The instructions; all indices in them are new.
    pub code: Vec<Instr>,
    /// The tables of `brx`. Those of the old code come first; a shared table may have been copied.
    pub tables: Vec<Vec<u32>>,
    /// For each instruction the old one that it comes from, and whether it is injected (for that branch's sake).
    pub from: Vec<(u32, bool)>,
    /// By old index, with one entry for the end: where a jump to that instruction goes now.
    pub map: Vec<u32>,
}

/// Injects into a function, and moves everything that refers to its instructions: targets, tables, return addresses,
/// code addresses of preloads. An injected instruction is hidden and comes from the branch for whose sake it is there.
///
/// Gives back, by old index and with one entry for the end, where a jump to that instruction goes now.
pub fn inject(function: &mut FnCode) -> Vec<u32> {
    let Injected { code, tables, from, map } = inject_code(&function.code, &function.tables);
    let origin = from.iter().filter_map(|(old, injected)| {
        let origin = *function.origin.get(*old as usize)?;
        Some(Origin { hidden: origin.hidden || *injected, ..origin })
    });
    function.origin = origin.collect();
    (function.code, function.tables) = (code, tables);
    for preload in &mut function.preloads {
        if let Init::Code(pc) = &mut preload.init {
            *pc = map.get(pc.0 as usize).map_or(*pc, |new| Pc(*new));
        }
    }
    map
}

/// Injects into a function's code. `tables` hold the targets of `brx`; all indices are local to the function.
///
/// Complete functions are expected: no lane falls off the end. Any code is accepted.
#[must_use]
pub fn inject_code(code: &[Instr], tables: &[Vec<u32>]) -> Injected {
    let graph = Graph::of(code, tables);
    let branches = graph.blocks().iter().any(|b| b.ending == Ending::Branches);
    let regions = branches.then(|| Regions::of(&graph)).filter(|regions| !regions.needed.is_empty());
    let Some(regions) = regions else {
        return Injected {
            code: code.to_vec(),
            tables: tables.to_vec(),
            from: (0..index(code.len())).map(|i| (i, false)).collect(),
            map: (0..=index(code.len())).collect(),
        };
    };
    let mut writer = Writer::new(code, &graph, &regions);
    writer.write();
    writer.resolve(tables)
}

/// The regions that end and begin at a place.
#[derive(Clone, Copy, Default)]
struct Ops {
    sync: Option<u32>,
    ssy: Option<u32>,
}

impl Ops {
    const fn any(self) -> bool {
        self.sync.is_some() || self.ssy.is_some()
    }
}

/// What has an address that is not known before everything is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    /// A block, with what stands at its head.
    Block(u32),
    /// The instructions of a merge group.
    Group(u32),
    /// The instructions of an edge that has no other place for them.
    Edge(u32),
    /// Behind a region's `sync`.
    Behind(u32),
}

struct Writer<'a> {
    old: &'a [Instr],
    graph: &'a Graph,
    regions: &'a Regions,
    ops: FxHashMap<Place, Ops>,
    /// By group: itself if instructions stand there, or what it leads to.
    leads: Vec<Label>,
    /// By block: the groups with instructions, innermost first.
    groups_of: Vec<(u32, u32)>,

    code: Vec<Instr>,
    from: Vec<(u32, bool)>,
    place: Vec<u32>,
    fixes: Vec<(usize, Label)>,
    /// `brx` instructions and their blocks.
    indirect: Vec<(usize, u32)>,
    /// Groups and edges still to be written, at the end of the code.
    apart: Vec<Label>,
    /// Where labels are, once what they stand for is written.
    at: FxHashMap<Label, u32>,
}

impl<'a> Writer<'a> {
    fn new(old: &'a [Instr], graph: &'a Graph, regions: &'a Regions) -> Self {
        let groups = &regions.merges.groups;
        let mut writer = Self {
            old,
            graph,
            regions,
            ops: FxHashMap::default(),
            leads: vec![Label::Block(0); groups.len()],
            groups_of: Vec::new(),
            code: Vec::with_capacity(old.len() + 2 * regions.needed.len()),
            from: Vec::with_capacity(old.len() + 2 * regions.needed.len()),
            place: vec![0; old.len()],
            fixes: Vec::new(),
            indirect: Vec::new(),
            apart: Vec::new(),
            at: FxHashMap::default(),
        };
        for (i, region) in regions.needed.iter().enumerate() {
            writer.ops.entry(region.entry).or_default().ssy = Some(index(i));
            writer.ops.entry(region.exit).or_default().sync = Some(index(i));
        }
        // A group leads to one that comes after it.
        for (g, group) in groups.iter().enumerate().rev() {
            writer.leads[g] = writer.lead(group.to);
            if writer.ops(Place::Group(index(g))).any() {
                writer.leads[g] = Label::Group(index(g));
                writer.groups_of.push((group.block, index(g)));
            }
        }
        sort::sort(&mut writer.groups_of);
        writer
    }

    fn ops(&self, place: Place) -> Ops {
        self.ops.get(&place).copied().unwrap_or_default()
    }

    /// The first thing with instructions on the way that begins with a join.
    fn lead(&self, join: Join) -> Label {
        match join {
            Join::Block(b) => Label::Block(b),
            Join::Group(g) => self.leads[g as usize],
        }
    }

    fn edge(&self, edge: usize) -> (&Edge, Label) {
        (&self.graph.edges()[edge], self.lead(self.regions.merges.edges[edge]))
    }

    fn write(&mut self) {
        let mut fall: Option<usize> = None;
        for (b, block) in self.graph.blocks().iter().enumerate() {
            self.write_ways_in(b, fall);
            self.label(Label::Block(index(b)));
            if let Some(edge) = self.only_jump_in(b) {
                self.write_ops(self.ops(Place::Edge(index(edge))));
            }
            self.write_block(b, block);
            fall = self.graph.leaving(b).find(|e| self.graph.edges()[*e].kind == EdgeKind::Fall);
        }
        let end = self.graph.blocks().last().map(|b| b.ending);
        if end == Some(Ending::FallsOff) && !self.apart.is_empty() {
            // Nothing stood there; what is written now must not be run into.
            self.push(Instr::new(Op::Trap), index(self.old.len().saturating_sub(1)), true);
        }
        while let Some(label) = self.apart.pop() {
            let (place, to) = match label {
                Label::Group(g) => (Place::Group(g), self.lead(self.regions.merges.groups[g as usize].to)),
                Label::Edge(e) => (Place::Edge(e), self.edge(e as usize).1),
                Label::Block(_) | Label::Behind(_) => continue,
            };
            self.label(label);
            self.write_ops(self.ops(place));
            self.jump(self.ops(place), to);
        }
    }

    /// What stands before a block: the instructions of the edge on which the block before it falls into it, and groups.
    fn write_ways_in(&mut self, b: usize, fall: Option<usize>) {
        let at = index(b);
        let mut enters = false;
        let mut lead = Label::Block(at);
        if let Some(edge) = fall {
            self.write_ops(self.ops(Place::Edge(index(edge))));
            (enters, lead) = (true, self.edge(edge).1);
        } else if b == 0 {
            self.write_ops(self.ops(Place::Start));
            (enters, lead) = (true, self.lead(self.regions.merges.start));
        }
        let mut ops = Ops::default();
        while let Label::Group(g) = lead {
            ops = self.ops(Place::Group(g));
            lead = self.write_group(g);
        }
        // One more chain may stand before the block if control jumps over it: the back edges', which are taken most often.
        let first = self.groups_of.partition_point(|(block, _)| *block < at);
        let all = self.groups_of[first..].iter().take_while(|(block, _)| *block == at).map(|(_, g)| *g);
        let rest: Vec<u32> = all.filter(|g| !self.at.contains_key(&Label::Group(*g))).collect();
        let groups = &self.regions.merges.groups;
        let ends_here = |g: &&u32| self.lead(groups[**g as usize].to) == Label::Block(at);
        let back = |g: &&u32| groups[**g as usize].back;
        let found = rest.iter().rev().filter(ends_here).find(back);
        let found = found.or_else(|| if enters { None } else { rest.iter().rev().find(ends_here) }).copied();
        if let Some(g) = found {
            if enters {
                self.jump(if ops.any() { ops } else { self.ops(Place::Group(g)) }, Label::Block(at));
            }
            self.write_group(g);
        }
        self.apart.extend(rest.into_iter().filter(|g| Some(*g) != found).map(Label::Group));
    }

    fn write_group(&mut self, g: u32) -> Label {
        self.label(Label::Group(g));
        self.write_ops(self.ops(Place::Group(g)));
        self.lead(self.regions.merges.groups[g as usize].to)
    }

    /// The edge by which alone a block is entered, if it is a jump of a block with several ways out.
    fn only_jump_in(&self, b: usize) -> Option<usize> {
        match self.graph.entering(b) {
            [e] if b != 0 => {
                let e = *e as usize;
                let edge = &self.graph.edges()[e];
                (edge.kind != EdgeKind::Fall && self.graph.leaving(edge.from as usize).len() > 1).then_some(e)
            }
            _ => None,
        }
    }

    fn write_block(&mut self, b: usize, block: &Block) {
        let inside = self.ops(Place::Inside(index(b)));
        self.write_ops(Ops { ssy: None, ..inside });
        let last = block.end - 1;
        for i in block.start..last {
            self.copy(i);
        }
        let leaves = matches!(self.old[last as usize].op, Op::Bra | Op::Brx)
            || matches!(block.ending, Ending::Returns | Ending::Traps);
        if !leaves {
            self.copy(last);
        }
        self.write_ops(Ops { sync: None, ..inside });
        if !leaves {
            return;
        }
        let ways = self.graph.leaving(b);
        if ways.len() == 1 && self.graph.edges()[ways.start].kind != EdgeKind::Fall {
            self.write_ops(self.ops(Place::Edge(index(ways.start))));
        }
        let at = self.code.len();
        self.copy(last);
        match self.old[last as usize].op {
            Op::Bra => {
                let taken = ways.into_iter().find(|e| self.graph.edges()[*e].kind == EdgeKind::Taken);
                if let Some(edge) = taken {
                    let label = self.target(edge);
                    self.fixes.push((at, label));
                }
            }
            Op::Brx => self.indirect.push((at, index(b))),
            _ => {}
        }
        let here: Vec<usize> = self.graph.leaving(b).filter(|e| self.target(*e) == Label::Edge(index(*e))).collect();
        self.apart.extend(here.into_iter().map(|e| Label::Edge(index(e))));
    }

    /// Where a jump along an edge goes.
    fn target(&self, e: usize) -> Label {
        let (edge, lead) = self.edge(e);
        let from = edge.from as usize;
        if edge.kind == EdgeKind::Fall || !self.ops(Place::Edge(index(e))).any() || self.graph.leaving(from).len() == 1
        {
            lead
        } else if self.only_jump_in(edge.to as usize) == Some(e) {
            Label::Block(edge.to)
        } else {
            Label::Edge(index(e))
        }
    }

    fn write_ops(&mut self, ops: Ops) {
        if let Some(r) = ops.sync {
            self.push(Instr::new(Op::Sync), self.branch_of(r), true);
            self.label(Label::Behind(r));
        }
        if let Some(r) = ops.ssy {
            self.fixes.push((self.code.len(), Label::Behind(r)));
            self.push(Instr::new(Op::Ssy), self.branch_of(r), true);
        }
    }

    /// An injected jump, for the sake of the instructions of `ops`.
    fn jump(&mut self, ops: Ops, to: Label) {
        let branch = ops.sync.or(ops.ssy).map_or(0, |r| self.branch_of(r));
        self.fixes.push((self.code.len(), to));
        self.push(Instr::new(Op::Bra), branch, true);
    }

    /// The branch instruction for whose sake a region is there.
    fn branch_of(&self, region: u32) -> u32 {
        self.graph.blocks()[self.regions.needed[region as usize].branch as usize].end - 1
    }

    fn copy(&mut self, i: u32) {
        self.place[i as usize] = self.here();
        self.push(self.old[i as usize], i, false);
    }

    fn push(&mut self, instr: Instr, from: u32, injected: bool) {
        self.code.push(instr);
        self.from.push((from, injected));
    }

    fn here(&self) -> u32 {
        index(self.code.len())
    }

    /// What a label stands for is written from here on.
    fn label(&mut self, label: Label) {
        self.at.insert(label, self.here());
    }

    fn address(&self, label: Label) -> u32 {
        self.at.get(&label).copied().unwrap_or(u32::MAX)
    }

    /// Fills in the addresses.
    fn resolve(mut self, old_tables: &[Vec<u32>]) -> Injected {
        let mut map = self.place.clone();
        for (b, block) in self.graph.blocks().iter().enumerate() {
            map[block.start as usize] = self.address(Label::Block(index(b)));
        }
        map.push(self.place.last().map_or(0, |last| last + 1));
        let moved = |target: u32| map.get(target as usize).copied().unwrap_or(u32::MAX);
        for i in 0..self.code.len() {
            let (from, injected) = self.from[i];
            let imm = self.old.get(from as usize).map_or(0, |instr| instr.imm);
            match self.code[i].op {
                _ if injected => {}
                // The address behind the call, not behind what is injected there.
                Op::PreRet => {
                    let call = imm.checked_sub(1).and_then(|call| self.place.get(call as usize));
                    self.code[i].imm = call.map_or_else(|| moved(imm), |call| call + 1);
                }
                Op::Bra | Op::Ssy | Op::PreBrk => self.code[i].imm = moved(imm),
                _ => {}
            }
        }
        for &(at, label) in &self.fixes {
            self.code[at].imm = self.address(label);
        }
        let mut tables: Vec<Vec<u32>> =
            old_tables.iter().map(|table| table.iter().map(|target| moved(*target)).collect()).collect();
        let mut used = vec![false; tables.len()];
        for &(at, b) in &self.indirect {
            let name = self.code[at].imm as usize;
            let Some(mut table) = tables.get(name).cloned() else { continue };
            for e in self.graph.leaving(b as usize) {
                if let EdgeKind::Entry(i) = self.graph.edges()[e].kind {
                    table[i as usize] = self.address(self.target(e));
                }
            }
            if !used[name] {
                used[name] = true;
                tables[name] = table;
            } else if tables[name] != table {
                self.code[at].imm = index(tables.len());
                tables.push(table);
            }
        }
        let (mut code, from) = (self.code, self.from);
        break_loops(&mut code, &tables, |i| from[i].1);
        Injected { code, tables, from, map }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{FileId, Span};
    use crate::program::env::{FuncId, Preload};
    use crate::program::instr::{Guard, Slot};
    use crate::program::ops::Class;

    const IF: Option<Guard> = Some(Guard { pred: Slot(0), negated: false });

    fn op(op: Op, guard: Option<Guard>, imm: u32) -> Instr {
        Instr { guard, imm, ..Instr::new(op) }
    }

    /// The code after injection in short: `s` for `ssy` and `S` for `sync`, `b` and `B` for `bra`, `p` for `preBrk`, `k` and
    /// `K` for `break`, and targets.
    fn short(code: &[Instr]) -> String {
        let one = |i: &Instr| match i.op {
            Op::Ssy => format!("s{}", i.imm),
            Op::Sync => "S".into(),
            Op::PreBrk => format!("p{}", i.imm),
            Op::Break => format!("{}{}", if i.guard.is_some() { 'k' } else { 'K' }, i.imm),
            Op::Bra => format!("{}{}", if i.guard.is_some() { 'b' } else { 'B' }, i.imm),
            Op::Nop => ".".into(),
            other => format!("{other:?}"),
        };
        inject_code(code, &[]).code.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn one_pair_for_an_if() {
        let (nop, ret) = (op(Op::Nop, None, 0), op(Op::Ret, None, 0));
        assert_eq!(short(&[nop, op(Op::Bra, IF, 3), nop, nop, ret]), ". s5 b4 . S . Ret");
        // if (a || b) shares the pair
        let code = [op(Op::Bra, IF, 3), op(Op::Bra, IF, 4), nop, nop, ret];
        assert_eq!(short(&code), "s6 b4 b5 . . S Ret");
    }

    #[test]
    fn loops_gain_nothing_inside() {
        let (nop, ret) = (op(Op::Nop, None, 0), op(Op::Ret, None, 0));
        // do { } while (p)
        assert_eq!(short(&[nop, op(Op::Bra, IF, 0), nop, ret]), "s4 . b1 S . Ret");
        // while (p) { }
        assert_eq!(short(&[nop, op(Op::Bra, IF, 4), nop, op(Op::Bra, None, 0), ret]), "p6 . k6 . B1 K6 Ret");
    }

    #[test]
    fn a_loop_is_left_by_breaks() {
        let (nop, ret) = (op(Op::Nop, None, 0), op(Op::Ret, None, 0));
        // while (true) { if (p) break; . if (q) { . break; } }
        let code = [op(Op::Bra, IF, 4), nop, op(Op::Bra, IF, 0), nop, ret];
        assert_eq!(short(&code), "p6 k6 . b1 . K6 Ret");
        // The loop around an if is not the if's.
        let code = [nop, op(Op::Bra, IF, 3), nop, op(Op::Bra, IF, 0), ret];
        assert_eq!(short(&code), "s8 . s6 b5 . S b1 S Ret");
    }

    #[test]
    fn an_early_return_is_no_way_on() {
        let (nop, ret) = (op(Op::Nop, None, 0), op(Op::Ret, None, 0));
        assert_eq!(short(&[op(Op::Bra, IF, 2), ret, nop, ret]), "s4 b3 Ret S . Ret");
        assert_eq!(short(&[op(Op::Ret, IF, 0), nop, ret]), "Ret . Ret");
    }

    #[test]
    fn references_to_instructions_move() {
        let call = |imm| op(Op::PreRet, None, imm);
        let ret = op(Op::Ret, None, 0);
        // The call ends the if: its return address is before the sync.
        let code = vec![op(Op::Bra, IF, 3), call(3), op(Op::Call, None, 0), ret];
        let function = FuncId(0);
        let place = |n| Origin { file: FileId(0), span: Span::new(n, n + 1), loc: 0, function, hidden: false };
        let label = Preload { class: Class::Q, slot: Slot(2), init: Init::Code(Pc(3)) };
        let origin = (0..4).map(place).collect();
        let mut function = FnCode { code, origin, preloads: vec![label], ..FnCode::default() };
        assert_eq!(inject(&mut function), [0, 2, 3, 4, 6]);
        let code: Vec<_> = function.code.iter().map(|i| (i.op, i.imm)).collect();
        let expected = [(Op::Ssy, 5), (Op::Bra, 4), (Op::PreRet, 4), (Op::Call, 0), (Op::Sync, 0), (Op::Ret, 0)];
        assert_eq!(code, expected);
        assert_eq!(function.preloads[0].init, Init::Code(Pc(4)));
        let hidden: Vec<_> = function.origin.iter().map(|o| (o.hidden, o.span.start)).collect();
        assert_eq!(hidden, [(true, 0), (false, 0), (false, 1), (false, 2), (true, 0), (false, 3)]);
    }
}
