//! A memory environment small enough to follow every interleaving of a few memory operations, with all silent rules.

use indexmap::IndexSet;
use std::collections::{BTreeMap, BTreeSet};
use warpstep::memory::fermi::cache::{ByteMask, Bytes, Cache, DeviceSpace, Flow, Geometry, LineKey, OpIdx, Room, bits};
use warpstep::memory::fermi::program::{
    Around, At, AtomPlace, Atomic, Device, Eta, Fill, Level, Micro, OpKey, OpKind, Piece, ProgramSet, Shared, Sigma,
    micro, stalled,
};
use warpstep::program::instr::Space;
use warpstep::program::ops::{AtomOp, AtomTy};
use warpstep::verdict::{AccessId, Rule, Stop, Who};

/// The line of byte address `at`, and the mask of `len` bytes there.
fn place(space: DeviceSpace, at: u64, len: u32, line: u64) -> (LineKey, ByteMask) {
    let base = at - at % line;
    (LineKey { space, owner: Who::default(), base }, ((1 << len) - 1) << (at - base))
}

/// What happens in a scenario: an operation at an address.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// The operation's name.
    pub name: &'static str,
    /// The multiprocessor.
    pub sm: usize,
    /// The first byte.
    pub at: u64,
    /// Bytes: at most 4.
    pub len: u32,
    /// What a store writes, or an atomic addition adds.
    pub value: u32,
    /// The operation that has ended before this one begins.
    pub after: Option<usize>,
}

/// An operation on one byte.
pub const fn act(name: &'static str, sm: usize, at: u64, value: u32) -> Act {
    Act { name, sm, at, len: 1, value, after: None }
}

impl Act {
    /// The same, begun when another has ended.
    pub const fn after(self, other: usize) -> Self {
        Self { after: Some(other), ..self }
    }

    /// The same on several bytes.
    pub const fn bytes(self, len: u32) -> Self {
        Self { len, ..self }
    }

    fn key(&self) -> OpKey {
        OpKey::named(self.name).unwrap()
    }

    fn state(&self, line: u64) -> Sigma {
        let (key, bytes) = (self.key(), self.value.to_le_bytes());
        let space = match key.space() {
            Space::Local => DeviceSpace::Local,
            Space::Const => DeviceSpace::Const,
            Space::Param => DeviceSpace::Param,
            _ => DeviceSpace::Global,
        };
        let piece = Piece { offset: self.at as u32, len: self.len as u8 };
        let (at, mask) = place(space, self.at, self.len, line);
        if key.kind() == OpKind::Reg {
            return Sigma::Reg;
        }
        if key.kind() == OpKind::Fence {
            return Sigma::Fence { holds: true };
        }
        if key.atomic() {
            let shared = key.space() == Space::Shared;
            let place = if shared { AtomPlace::Shared(piece) } else { AtomPlace::Global { key: at, mask, want: mask } };
            let first = self.value.into();
            return Sigma::Atomic(Atomic {
                place,
                op: AtomOp::Add,
                ty: AtomTy::B32,
                out: Bytes::NONE,
                first,
                second: 0,
                access_id: AccessId::NONE,
            });
        }
        let data = bytes[..self.len as usize].to_vec();
        match (key.space(), key.kind()) {
            (Space::Shared, OpKind::Store) => Sigma::Shared(Shared { pieces: vec![piece], value: data }),
            (Space::Shared, _) => Sigma::Shared(Shared { pieces: vec![piece], value: Vec::new() }),
            (_, OpKind::Store) => {
                let mut value = Bytes::NONE;
                value.put((self.at - at.base) as usize, &data);
                Sigma::Device(Device { key: at, mask, want: mask, value })
            }
            _ => Sigma::Device(Device::load(at, mask)),
        }
    }
}

/// An operation in flight.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Running {
    at: At,
    sigma: Sigma,
    ended: bool,
    released: bool,
    result: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    l1: Vec<Cache>,
    l2: Cache,
    memory: BTreeMap<(DeviceSpace, u64), u8>,
    shared: Vec<u8>,
    locked: bool,
    running: Vec<Running>,
}

/// A scenario.
pub struct Scenario {
    pub programs: ProgramSet,
    pub shape: Geometry,
    pub fill: Fill,
    pub acts: Vec<Act>,
    /// Rules that fired.
    pub fired: BTreeSet<Rule>,
}

struct View<'a> {
    world: &'a mut World,
    sm: usize,
    k: usize,
    act: Act,
    fill: Fill,
    pick: usize,
    offered: usize,
    fired: &'a mut BTreeSet<Rule>,
}

impl Eta for View<'_> {
    const ON: bool = true;

    fn cache(&mut self, level: Level) -> &mut Cache {
        if level == Level::L1 { &mut self.world.l1[self.sm] } else { &mut self.world.l2 }
    }

    fn others(&mut self) -> impl Iterator<Item = &mut Cache> {
        let own = self.sm;
        self.world.l1.iter_mut().enumerate().filter(move |(k, _)| *k != own).map(|(_, l1)| l1)
    }

    fn fill(&self) -> Fill {
        self.fill
    }

    fn victim(&mut self, _: Level, among: &[LineKey]) -> Result<usize, Stop> {
        self.offered = among.len();
        Ok(self.pick % among.len())
    }

    fn read_device(&mut self, key: LineKey, want: ByteMask, into: &mut Bytes) {
        for at in bits(want) {
            into.set(at, self.world.memory.get(&(key.space, key.base + at as u64)).copied().unwrap_or(0));
        }
    }

    fn write_device(&mut self, key: LineKey, from: &Bytes) -> bool {
        bits(from.mask())
            .for_each(|at| _ = self.world.memory.insert((key.space, key.base + at as u64), from.data()[at]));
        true
    }

    fn read_shared(&mut self, piece: Piece, into: &mut Vec<u8>) -> bool {
        let start = piece.offset as usize;
        self.world.shared.get(start..start + usize::from(piece.len)).map(|b| into.extend_from_slice(b)).is_some()
    }

    fn write_shared(&mut self, piece: Piece, _: usize, from: &[u8]) -> bool {
        let start = piece.offset as usize;
        let place = self.world.shared.get_mut(start..start + from.len());
        place.map(|p| p.copy_from_slice(from)).is_some()
    }

    fn locked(&self, _: Piece) -> bool {
        self.world.locked
    }

    fn set_lock(&mut self, _: Piece, locked: bool) {
        self.world.locked = locked;
    }

    fn write_regs(&mut self, sigma: &Sigma) -> bool {
        let returns = matches!(self.act.key().kind(), OpKind::Load | OpKind::Atom | OpKind::Reg);
        let value = match sigma {
            Sigma::Device(d) => bits(d.mask).enumerate().map(|(k, at)| u32::from(d.value.data()[at]) << (8 * k)).sum(),
            Sigma::Atomic(a) => a.old().unwrap_or(0) as u32,
            Sigma::Shared(s) => s.value.iter().enumerate().map(|(k, b)| u32::from(*b) << (8 * k)).sum(),
            Sigma::Reg | Sigma::Fence { .. } => 0,
        };
        self.world.running[self.k].result = Some(value);
        returns
    }

    fn release_regs(&mut self) {
        self.world.running[self.k].released = true;
    }

    fn fired(&mut self, rule: Rule) -> Result<(), Stop> {
        self.fired.insert(rule);
        Ok(())
    }
}

/// What can come out: the results of the operations that return one, in order, then the memory's final contents that a
/// coherent reader sees (L2's bytes before memory's) at the addresses asked for.
pub type Outcomes = BTreeSet<Vec<u32>>;

impl Scenario {
    pub fn new(programs: ProgramSet, sets: u32, ways: u32, acts: &[Act]) -> Self {
        let shape = Geometry { sets, ways, line: 2 };
        Self { programs, shape, fill: Fill::Line, acts: acts.to_vec(), fired: BTreeSet::new() }
    }

    /// Every outcome; the number of states; or what went wrong.
    pub fn explore(&mut self, finally: &[u64]) -> Result<(Outcomes, usize), String> {
        let line = u64::from(self.shape.line);
        let running = self.acts.iter().map(|a| Running {
            at: At::default(),
            sigma: a.state(line),
            ended: false,
            released: a.key().kind() == OpKind::Fence,
            result: None,
        });
        let sms = 1 + self.acts.iter().map(|a| a.sm).max().unwrap_or(0);
        let start = World {
            l1: vec![Cache::new(self.shape); sms],
            l2: Cache::new(self.shape),
            memory: BTreeMap::new(),
            shared: vec![0; 8],
            locked: false,
            running: running.collect(),
        };
        let mut seen: IndexSet<World> = IndexSet::from([start]);
        let mut outcomes = Outcomes::new();
        let mut k = 0;
        while let Some(world) = seen.get_index(k).cloned() {
            k += 1;
            if world.running.iter().all(|r| r.ended) {
                if let Some(r) = world.running.iter().position(|r| !r.released) {
                    return Err(format!("operation {r} leaves its registers blocked"));
                }
                if world.locked || world.l1.iter().chain([&world.l2]).any(|c| c.lines().any(|l| !l.pins.is_empty())) {
                    return Err("a lock or a pin is left".to_owned());
                }
                let results = world.running.iter().filter_map(|r| r.result);
                outcomes.insert(results.chain(finally.iter().map(|at| world.coherent(*at))).collect());
                continue;
            }
            let next = self.next(&world)?;
            if next.iter().all(|w| *w == world) {
                return Err(format!("nothing can go on: {:?}", world.running.iter().map(|r| r.at).collect::<Vec<_>>()));
            }
            if seen.len() > 2_000_000 {
                return Err("too many states".to_owned());
            }
            seen.extend(next);
        }
        Ok((outcomes, seen.len()))
    }

    fn next(&mut self, world: &World) -> Result<Vec<World>, String> {
        let mut all = world.silent();
        for k in 0..self.acts.len() {
            let act = self.acts[k];
            if world.running[k].ended || act.after.is_some_and(|o| !world.running[o].ended) {
                continue;
            }
            let id = self.programs.find(act.key()).ok_or("no program")?;
            let program = self.programs.get(id).ok_or("no program")?;
            let (mut pick, mut offered) = (0, 1);
            while pick < offered {
                let mut after = world.clone();
                let Running { mut at, mut sigma, .. } = after.running[k].clone();
                let others = || world.l1.iter().enumerate().filter(|(sm, _)| *sm != act.sm);
                let pinned_elsewhere = &|key| others().any(|(_, l1)| l1.pinned(key));
                let (l1, l2, locked) = (&world.l1[act.sm], &world.l2, world.locked);
                let around = Around { l1, l2, locked, pinned_elsewhere };
                let idle = stalled(program, at, OpIdx(k as u32), &sigma, &around);
                let fill = self.fill;
                let fired = &mut self.fired;
                let mut view = View { world: &mut after, sm: act.sm, k, act, fill, pick, offered, fired };
                let end =
                    micro(program, &mut at, OpIdx(k as u32), &mut sigma, &mut view).map_err(|s| format!("{s:?}"))?;
                offered = view.offered.max(1);
                if let Micro::Stuck(at, cause) = end {
                    return Err(format!("{} stuck at line {}: {cause:?}", act.name, program.line(at)));
                }
                let running = &mut after.running[k];
                (running.at, running.sigma, running.ended) = (at, sigma, end == Micro::End);
                if running.ended {
                    // What is over and done with is no part of the state.
                    running.at = At::default();
                    running.sigma = Sigma::Reg;
                }
                if idle != (end == Micro::Wait && after == *world) {
                    return Err(format!("`stalled` says {idle} of {} at {at:?}", act.name));
                }
                all.push(after);
                pick += 1;
            }
        }
        Ok(all)
    }
}

impl World {
    fn coherent(&self, at: u64) -> u32 {
        let (key, _) = place(DeviceSpace::Global, at, 1, u64::from(self.l2.shape().line));
        let cached = self.l2.line(key).and_then(|l| l.bytes.get((at - key.base) as usize));
        let memory = self.memory.get(&(DeviceSpace::Global, at)).copied().unwrap_or(0);
        cached.unwrap_or(memory).max(self.shared.get(at as usize).copied().unwrap_or(0)).into()
    }

    /// The silent rules of 4.6, without `flush`.
    fn silent(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for sm in 0..self.l1.len() {
            for key in self.l1[sm].evictable() {
                let mut w = self.clone();
                w.l1[sm].evict(key);
                all.push(w);
            }
            for key in self.l1[sm].dirty() {
                let victims = match self.l2.room(key) {
                    Room::Evict(list) => list.into_iter().map(Some).collect(),
                    _ => vec![None],
                };
                for victim in victims {
                    let mut w = self.clone();
                    if w.l2.write(key, &self.l1[sm].dirty_bytes(key), victim).flow == Flow::Done {
                        w.l1[sm].clean(key, !0);
                        all.push(w);
                    }
                }
            }
        }
        for key in self.l2.evictable() {
            let mut w = self.clone();
            w.l2.evict(key);
            all.push(w);
        }
        for key in self.l2.dirty() {
            let mut w = self.clone();
            let bytes = w.l2.dirty_bytes(key);
            bits(bytes.mask()).for_each(|at| _ = w.memory.insert((key.space, key.base + at as u64), bytes.data()[at]));
            w.l2.clean(key, !0);
            all.push(w);
        }
        all
    }
}
