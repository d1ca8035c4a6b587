//! Programs by the thousand: all of a shape, up to symmetry (section 6.1 by brute force).

use crate::base::{Placed, Span, sort};
use crate::litmus::rsp::{Access, Home, Location, MemoryOrder, MemoryScope, Region, Statement, Stmt, Test, Thread};
use crate::litmus::tree::{Atom, Ident, Relation, Value};

use crate::memory::rsp::Kind;

/// An operation of a generated program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Op {
    /// Its kind.
    pub kind: Kind,
    /// Its scope and whether it is remote; nothing for a plain one.
    pub atomic: Option<(u8, bool)>,
    /// Its location.
    pub at: u8,
}

const SCOPES: [MemoryScope; 3] = [MemoryScope::WorkGroup, MemoryScope::Device, MemoryScope::All];

impl Op {
    /// Every operation on a location. `scopes`: WG, DV, ALL; only so many of them.
    #[must_use]
    pub fn all(kinds: &[Kind], scopes: u8, at: u8) -> Vec<Self> {
        let mut found = Vec::new();
        for kind in kinds {
            found.extend((*kind != Kind::Update).then_some(Self { kind: *kind, atomic: None, at }));
            for scope in 0..scopes {
                found.extend([false, true].map(|remote| Self { kind: *kind, atomic: Some((scope, remote)), at }));
            }
        }
        found
    }

    pub(super) fn access(self) -> Access {
        let Some((scope, remote)) = self.atomic else { return Access::Plain };
        let order = match self.kind {
            Kind::Load => MemoryOrder::Acquire,
            Kind::Store => MemoryOrder::Release,
            Kind::Update => MemoryOrder::AcqRel,
        };
        Access::Atomic { order, scope: SCOPES[usize::from(scope) % 3], remote }
    }
}

/// A generated program: threads with their homes, and whether what follows the first operation of a thread is done only where that
/// operation read something else than 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Device and work-group of each thread, with its operations.
    pub threads: Vec<(Home, Vec<Op>)>,
    /// The thread whose second and later operations depend on its first.
    pub conditional: Option<usize>,
}

const LETTERS: [&str; 4] = ["x", "y", "z", "w"];

fn ident(name: &str) -> Ident {
    Ident { name: name.to_owned(), span: Span::default() }
}

fn placed(kind: Statement) -> Stmt {
    Placed { kind, span: Span::default() }
}

impl Shape {
    /// The program. Each store has a value of its own.
    #[must_use]
    pub fn test(&self) -> Test {
        let mut value = 0;
        let mut threads = Vec::new();
        for (k, (home, ops)) in self.threads.iter().enumerate() {
            let mut code: Vec<Stmt> = Vec::new();
            for (place, op) in ops.iter().enumerate() {
                value += 1;
                let name = format!("r{place}");
                code.push(placed(statement(*op, &name, value)));
            }
            if self.conditional == Some(k) && !code.is_empty() {
                let then = code.split_off(1);
                let (left, right) = (Value::Register(ident("r0")), Value::Number(0, Span::default()));
                code.push(placed(Statement::If { relation: Relation::Ne, left, right, then, otherwise: Vec::new() }));
            }
            let number = u32::try_from(k).unwrap_or(0);
            threads.push(Thread { number, home: *home, span: Span::default(), code });
        }
        Test { name: "generated".to_owned(), locations: self.locations(), threads, ..Test::default() }
    }

    fn locations(&self) -> Vec<Location> {
        let ops = || self.threads.iter().flat_map(|(_, ops)| ops);
        let count = ops().map(|op| op.at + 1).max().unwrap_or(0);
        let location = |at: u8| Location {
            name: ident(LETTERS[usize::from(at) % 4]),
            initial: 0,
            atomic: ops().any(|op| op.at == at && op.atomic.is_some()),
            region: Region::Global,
        };
        (0..count).map(location).collect()
    }

    /// The ways in which its locations may be atomic: those with plain accesses only may be either.
    #[must_use]
    pub fn atomics(&self) -> Vec<Vec<bool>> {
        let given: Vec<bool> = self.locations().iter().map(|l| l.atomic).collect();
        let free: Vec<usize> = (0..given.len()).filter(|k| !given[*k]).collect();
        let way = |bits: usize| {
            let mut atomic = given.clone();
            free.iter().enumerate().for_each(|(bit, at)| atomic[*at] = bits >> bit & 1 == 1);
            atomic
        };
        (0..1 << free.len()).map(way).collect()
    }

    /// Whether it is the first of those that are alike: threads of a work-group change places, work-groups do, locations do.
    #[must_use]
    pub fn is_first(&self) -> bool {
        let key = self.key(&|at| at);
        let other = self.key(&|at| 1 - at.min(1));
        let count = self.locations().len();
        count <= 2 && (count < 2 || key <= other) && key == self.plain_key()
    }

    /// Threads as they stand.
    fn plain_key(&self) -> Vec<Vec<Vec<Op>>> {
        let mut groups: Vec<(Home, Vec<Vec<Op>>)> = Vec::new();
        for (home, ops) in &self.threads {
            match groups.iter_mut().find(|(h, _)| h == home) {
                Some((_, members)) => members.push(ops.clone()),
                None => groups.push((*home, vec![ops.clone()])),
            }
        }
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// Threads and work-groups in order.
    fn key(&self, rename: &dyn Fn(u8) -> u8) -> Vec<Vec<Vec<Op>>> {
        let mut key = self.plain_key();
        for op in key.iter_mut().flatten().flatten() {
            op.at = rename(op.at);
        }
        key.iter_mut().for_each(|members| members.sort());
        sort::sort(&mut key);
        key
    }
}

fn statement(op: Op, register: &str, value: i64) -> Statement {
    let (access, at, to) = (op.access(), ident(LETTERS[usize::from(op.at) % 4]), ident(register));
    match op.kind {
        Kind::Load => Statement::Load { access, to, from: at },
        Kind::Store => Statement::Store { access, at, value: Value::Number(value, Span::default()) },
        Kind::Update => {
            let value = Value::Number(1, Span::default());
            Statement::Update { access, op: Atom::Add, to: Some(to), at, value }
        }
    }
}

/// How threads are placed: for each, its device, its work-group, and how many operations it has.
pub type Placing = Vec<(u32, u32, usize)>;

/// The homes of up to three threads in up to two work-groups of one device.
pub const ONE_DEVICE: &[&[(u32, u32)]] =
    &[&[(0, 0)], &[(0, 0), (0, 0)], &[(0, 0), (0, 1)], &[(0, 0), (0, 0), (0, 0)], &[(0, 0), (0, 0), (0, 1)]];

/// The homes of two or three threads in two devices with one work-group each.
pub const TWO_DEVICES: &[&[(u32, u32)]] = &[&[(0, 0), (1, 0)], &[(0, 0), (0, 0), (1, 0)]];

/// All ways to place so many operations in threads with such homes, each of which has one at least.
#[must_use]
pub fn placings(operations: usize, homes: &[&[(u32, u32)]]) -> Vec<Placing> {
    let mut found: Vec<Placing> = Vec::new();
    for homes in homes {
        let mut sizes = vec![1; homes.len()];
        loop {
            if sizes.iter().sum::<usize>() == operations {
                found.push(homes.iter().zip(&sizes).map(|((device, group), size)| (*device, *group, *size)).collect());
            }
            let Some(k) = (0..sizes.len()).find(|k| sizes[*k] < operations) else { break };
            sizes[..k].fill(1);
            sizes[k] += 1;
        }
    }
    found
}

/// Every program of two threads with two operations each, where the second one of the second thread is done only if its first
/// reads something else than 0, at all locations, up to symmetry: message passing, store and load buffering are among them.
pub fn conditional(homes: [Home; 2], kinds: &dyn Fn(u8) -> Vec<Op>, each: &mut dyn FnMut(&Shape)) {
    let all: Vec<Op> = (0..2).flat_map(kinds).collect();
    let reads: Vec<Op> = all.iter().copied().filter(|op| op.kind != Kind::Store).collect();
    // Locations change places: the first one is the first.
    for first in all.iter().filter(|op| op.at == 0) {
        for second in &all {
            for third in &reads {
                for fourth in &all {
                    let threads = vec![(homes[0], vec![*first, *second]), (homes[1], vec![*third, *fourth])];
                    each(&Shape { threads, conditional: Some(1) });
                }
            }
        }
    }
}

/// Every program of a placing whose operations are from a list, up to symmetry.
pub fn programs(placing: &Placing, ops: &[Op], each: &mut dyn FnMut(&Shape)) {
    let count: usize = placing.iter().map(|(_, _, size)| size).sum();
    let mut places = vec![0; count];
    loop {
        let mut next = places.iter().map(|k: &usize| ops[*k]);
        let threads = placing
            .iter()
            .map(|(device, group, size)| (Home { device: *device, group: *group }, next.by_ref().take(*size).collect()))
            .collect();
        let shape = Shape { threads, conditional: None };
        if shape.is_first() {
            each(&shape);
        }
        let Some(k) = (0..count).find(|k| places[*k] + 1 < ops.len()) else { return };
        places[..k].fill(0);
        places[k] += 1;
    }
}
