//! Linking: the names of all modules, their definitions, and what remains to be done when all code is there.
//!
//! A name with `.visible`, `.extern`, `.weak` or `.common` is one thing in all modules (PTX ISA 11.6); another name
//! belongs to its module. Of several definitions a strong one wins over weak ones, else the first one.

use super::env::{Area, Bounds, FuncId, Function, GlobalVar, Init, Reference, SharedName, Slots, Within};
use super::instr::Syscall;
use super::layout::{Extent, align_up, extent, parameters};
use super::lower::symbol::{Base, Place, Sym};
use super::lower::{LowerErrorKind, Owner, Program, SharedVar, Unit, Uses, initialise};
use super::origins::{Object, Room};
use crate::base::FileId;
use crate::program::consts::integer;
use crate::ptx::Modifier;
use crate::ptx::tree::{
    self, Declarator, Expr, ExprKind, Ident, Initialiser, Item, Linkage, Name, StateSpace, Variable,
};
use crate::verdict::{AllocKind, ImageKind};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// A declaration of a function or a variable at module scope.
struct Declaration<'t> {
    /// Its unit, and its item there.
    at: (usize, usize),
    ident: Ident,
    linkage: Option<Linkage>,
    of: Declared<'t>,
    /// Whether some declaration of its module gives the name a linkage.
    public: bool,
    /// Whether no other definition takes its place.
    wins: bool,
}

#[derive(Clone, Copy)]
enum Declared<'t> {
    Function(&'t tree::Function),
    Variable(&'t Variable, &'t Declarator),
}

/// Declares everything of all modules and fills variables with their initial values.
pub(super) fn declare(program: &mut Program, units: &mut [Unit<'_>]) {
    let declarations = declarations(program, units);
    let mut linked: FxHashMap<String, Sym> = FxHashMap::default();
    for declaration in &declarations {
        let unit = &mut units[declaration.at.0];
        match declaration.of {
            Declared::Function(f) => function(program, unit, &mut linked, declaration, f),
            Declared::Variable(tree, declarator) => {
                variable(program, unit, &mut linked, declaration, (tree, declarator));
            }
        }
    }
    for unit in units.iter_mut() {
        aliases(program, unit, &mut linked);
    }
    for Declaration { at, ident, of, .. } in declarations.iter().filter(|d| d.wins) {
        let unit = &units[at.0];
        if let (Declared::Variable(v, declarator), Sym::Place(Place { base: Base::Variable(index), .. })) =
            (of, global(unit, ident.name))
        {
            initialise(program, unit, v, declarator, index);
        }
    }
    let syscall = |f: &Function| Syscall::named(&f.name).filter(|_| !f.defined);
    program.syscalls = program.env.functions.values().map(syscall).collect();
}

/// All declarations, in order.
fn declarations<'t>(program: &mut Program, units: &[Unit<'t>]) -> Vec<Declaration<'t>> {
    let mut all = Vec::new();
    for (u, unit) in units.iter().enumerate() {
        let first = all.len();
        for (i, item) in unit.module.items.iter().enumerate() {
            let declared =
                |ident, linkage, of| Declaration { at: (u, i), ident, linkage, of, public: false, wins: true };
            match item {
                Item::Function(f) => all.push(declared(f.ident, f.linkage, Declared::Function(f))),
                Item::Variable(v) => {
                    let one = |d: &'t Declarator| declared(d.ident, v.linkage, Declared::Variable(v, d));
                    all.extend(v.declarators.iter().map(one));
                }
                _ => {}
            }
        }
        let linkages = all[first..].iter().filter(|d| d.linkage.is_some());
        let public: FxHashSet<Name> = linkages.map(|d| d.ident.name).collect();
        all[first..].iter_mut().for_each(|d| d.public = public.contains(&d.ident.name));
    }
    let winners = winners(program, units, &all);
    for (k, declaration) in all.iter_mut().enumerate().filter(|(_, d)| d.public) {
        let name = units[declaration.at.0].names().text(declaration.ident.name);
        declaration.wins = winners.get(name).is_none_or(|winner| *winner == k);
    }
    all
}

fn global(unit: &Unit<'_>, name: Name) -> Sym {
    unit.globals.get(name.0 as usize).copied().unwrap_or(Sym::None)
}

fn bind(unit: &mut Unit<'_>, name: Name, sym: Sym) {
    if let Some(place) = unit.globals.get_mut(name.0 as usize) {
        *place = sym;
    }
}

/// The definition that counts for each public name, an index of `all`.
fn winners<'t>(program: &mut Program, units: &[Unit<'t>], all: &[Declaration<'t>]) -> FxHashMap<&'t str, usize> {
    let mut winners: FxHashMap<&str, usize> = FxHashMap::default();
    for (k, new) in all.iter().enumerate().filter(|(_, d)| d.public && d.defines()) {
        let unit = &units[new.at.0];
        let name = unit.names().text(new.ident.name);
        let winner = winners.entry(name).or_insert(k);
        let old = &all[*winner];
        if *winner == k || !new.is_strong() {
            continue;
        }
        if old.is_strong() {
            let kind =
                LowerErrorKind::Duplicate { name: name.to_owned(), file: units[old.at.0].file, span: old.ident.span };
            program.complain(unit.file, kind, new.ident.span);
        } else {
            *winner = k;
        }
    }
    winners
}

impl Declaration<'_> {
    const fn defines(&self) -> bool {
        match self.of {
            Declared::Function(f) => f.body.is_some(),
            Declared::Variable(..) => !matches!(self.linkage, Some(Linkage::Extern)),
        }
    }

    const fn is_strong(&self) -> bool {
        !matches!(self.linkage, Some(Linkage::Weak | Linkage::Common))
    }
}

/// A key of the environment that nobody has yet: the name, or the name with a number.
fn unique<T>(name: &str, map: &IndexMap<String, T, FxBuildHasher>) -> String {
    if !map.contains_key(name) {
        return name.to_owned();
    }
    (1u64..).map(|n| format!("{name}#{n}")).find(|key| !map.contains_key(key)).unwrap_or_default()
}

fn function<'t>(
    program: &mut Program,
    unit: &mut Unit<'t>,
    linked: &mut FxHashMap<String, Sym>,
    &Declaration { at: (_, item), public, wins, .. }: &Declaration<'t>,
    tree: &'t tree::Function,
) {
    let name = unit.names().text(tree.ident.name);
    let known = match (global(unit, tree.ident.name), linked.get(name)) {
        (Sym::Function(id), _) => Some(id),
        (Sym::None, Some(Sym::Function(id))) if public => Some(*id),
        _ => None,
    };
    let id = known.unwrap_or_else(|| {
        let key = unique(name, &program.env.functions);
        let (index, _) = program.env.functions.insert_full(key, blank(name, unit.file, tree));
        program.uses.push(Uses::default());
        FuncId(u32::try_from(index).unwrap_or(u32::MAX))
    });
    bind(unit, tree.ident.name, Sym::Function(id));
    if public {
        linked.insert(name.to_owned(), Sym::Function(id));
    }
    let Some((_, function)) = program.env.functions.get_index_mut(id.0 as usize) else { return };
    let defines = tree.body.is_some() && wins;
    if defines && function.defined {
        let kind = LowerErrorKind::Duplicate { name: name.to_owned(), file: function.file, span: function.span };
        program.complain(unit.file, kind, tree.ident.span);
        return;
    }
    if known.is_some() && !defines {
        return;
    }
    if defines {
        *function = Function { defined: true, ..blank(name, unit.file, tree) };
        unit.bodies.push((tree, id, unit.checked.items.get(item).copied().unwrap_or(usize::MAX)));
    }
    let mut params = Vec::new();
    let laid = parameters(&tree.returns, unit.names(), 0, &mut params).and_then(|end| {
        function.returns = u32::try_from(params.len()).unwrap_or(u32::MAX);
        parameters(&tree.params, unit.names(), end, &mut params)
    });
    function.params = params;
    match laid {
        Ok(end) if tree.entry => function.param_bytes = end,
        Ok(end) => function.frame_bytes = end,
        Err(span) => program.complain(unit.file, LowerErrorKind::TooLarge, span),
    }
}

/// A function that is only declared, with its launch bounds.
fn blank(name: &str, file: FileId, tree: &tree::Function) -> Function {
    let mut bounds = Bounds::default();
    for directive in &tree.directives {
        let dimension = |i: usize| directive.values.get(i).copied().unwrap_or(1);
        let dimensions = Some([dimension(0), dimension(1), dimension(2)]);
        match directive.name.as_str() {
            "maxntid" => bounds.max_threads = dimensions,
            "reqnctapercluster" => bounds.cluster = dimensions,
            "reqntid" => bounds.required_threads = dimensions,
            "minnctapersm" => bounds.min_blocks_per_sm = directive.values.first().copied(),
            _ => {}
        }
    }
    let slots = Slots { w: 2, ..Slots::default() };
    Function { name: name.to_owned(), entry: tree.entry, slots, bounds, file, span: tree.span, ..Function::default() }
}

fn variable(
    program: &mut Program,
    unit: &mut Unit<'_>,
    linked: &mut FxHashMap<String, Sym>,
    declaration: &Declaration<'_>,
    (tree, declarator): (&Variable, &Declarator),
) {
    let name = unit.names().text(declarator.ident.name);
    let known = if declaration.public { linked.get(name).copied() } else { None };
    let defines = declaration.defines() && declaration.wins;
    let sym = match known {
        Some(Sym::Place(place)) => match extent(tree, declarator) {
            Some(size) => Sym::Place(refine(program, unit.file, tree, place, size, defines)),
            None => return program.complain(unit.file, LowerErrorKind::TooLarge, declarator.ident.span),
        },
        Some(other) => other,
        None => match place(program, unit, tree, declarator) {
            Some(place) => Sym::Place(place),
            None => return,
        },
    };
    bind(unit, declarator.ident.name, sym);
    if declaration.public {
        linked.insert(name.to_owned(), sym);
    }
}

/// A further declaration of a variable: a definition says its size, `.common` ones the largest.
fn refine(program: &mut Program, file: FileId, tree: &Variable, old: Place, size: Extent, defines: bool) -> Place {
    let bytes = u32::try_from(size.bytes).unwrap_or(u32::MAX);
    let new = Place { bytes: old.bytes.max(bytes), align: old.align.max(size.align), element: size.element, ..old };
    match old.base {
        Base::Variable(index) => {
            if let Some((_, variable)) = program.env.variables.get_index_mut(index as usize) {
                variable.align = variable.align.max(u64::from(size.align));
                if defines {
                    variable.bytes =
                        if tree.linkage == Some(Linkage::Common) { variable.bytes.max(size.bytes) } else { size.bytes };
                    variable.external = false;
                    (variable.file, variable.span) = (file, tree.span);
                } else {
                    variable.bytes = variable.bytes.max(size.bytes);
                }
            }
        }
        Base::Shared(index) => {
            if let Some(variable) = program.shared.get_mut(index as usize) {
                variable.bytes = variable.bytes.max(bytes);
                variable.align = variable.align.max(size.align);
            }
        }
        _ => {}
    }
    new
}

/// Gives a variable of module scope, or a `.global`, `.const` or `.shared` one of a function, its place; complains where it
/// is too large, or of a space that variables do not have there.
pub(super) fn place(program: &mut Program, unit: &Unit<'_>, tree: &Variable, declarator: &Declarator) -> Option<Place> {
    let placed = match tree.space {
        StateSpace::Reg | StateSpace::Sreg | StateSpace::Param | StateSpace::Generic => Err(LowerErrorKind::Space),
        _ => find_place(program, unit, tree, declarator).ok_or(LowerErrorKind::TooLarge),
    };
    placed.map_err(|kind| program.complain(unit.file, kind, declarator.ident.span)).ok()
}

/// What an opaque variable names, and what its initialiser says of that.
fn reference(unit: &Unit<'_>, tree: &Variable, declarator: &Declarator) -> Option<Reference> {
    let kind = match tree.ty {
        Modifier::TEXREF => ImageKind::Texture,
        Modifier::SAMPLERREF => ImageKind::Sampler,
        Modifier::SURFREF => ImageKind::Surface,
        _ => return None,
    };
    let fields = match &declarator.init {
        Some(Initialiser::Fields(fields)) => fields.as_slice(),
        _ => &[],
    };
    let word = |expr: &Expr| match &expr.kind {
        ExprKind::Name(name) => unit.names().text(*name).to_owned(),
        _ => integer(expr).map(|n| n.to_string()).unwrap_or_default(),
    };
    let fields = fields.iter().map(|(field, value)| (unit.names().text(field.name).to_owned(), word(value))).collect();
    Some(Reference { kind, fields })
}

fn find_place(program: &mut Program, unit: &Unit<'_>, tree: &Variable, declarator: &Declarator) -> Option<Place> {
    let name = unit.names().text(declarator.ident.name);
    let size = extent(tree, declarator)?;
    let small = u32::try_from(size.bytes);
    let external = tree.linkage == Some(Linkage::Extern);
    let base = match tree.space {
        StateSpace::Global | StateSpace::Const | StateSpace::Tex => {
            let variable = GlobalVar {
                constant: tree.space == StateSpace::Const,
                bytes: size.bytes,
                align: u64::from(size.align),
                init: Vec::new(),
                relocations: Vec::new(),
                external,
                reference: reference(unit, tree, declarator),
                file: unit.file,
                span: tree.span,
            };
            let key = unique(name, &program.env.variables);
            let (index, _) = program.env.variables.insert_full(key, variable);
            Base::Variable(u32::try_from(index).ok()?)
        }
        StateSpace::Shared if external && size.bytes == 0 => {
            program.dynamic_shared.get_or_insert_with(|| name.to_owned());
            Base::DynamicShared
        }
        StateSpace::Shared => {
            program.shared.push(SharedVar { name: name.to_owned(), bytes: small.ok()?, align: size.align });
            Base::Shared(u32::try_from(program.shared.len() - 1).ok()?)
        }
        StateSpace::Local => {
            let offset = align_up(program.local_bytes, size.align)?;
            program.local_bytes = offset.checked_add(small.ok()?)?;
            Base::Local(offset)
        }
        _ => return None,
    };
    let bytes = small.unwrap_or(u32::MAX);
    let constant = tree.space == StateSpace::Const;
    Some(Place { base, bytes, element: size.element, align: size.align, constant })
}

/// `.alias f, g;`: f means g, also where another module names it.
fn aliases(program: &mut Program, unit: &mut Unit<'_>, linked: &mut FxHashMap<String, Sym>) {
    for item in &unit.module.items {
        let Item::Alias { alias, aliasee, span } = item else { continue };
        let Sym::Function(target) = global(unit, aliasee.name) else {
            let kind = LowerErrorKind::Undeclared(unit.names().text(aliasee.name).to_owned());
            program.complain(unit.file, kind, *span);
            continue;
        };
        match global(unit, alias.name) {
            Sym::Function(id) => program.aliases.push((id, target)),
            _ => {
                linked.insert(unit.names().text(alias.name).to_owned(), Sym::Function(target));
            }
        }
        bind(unit, alias.name, Sym::Function(target));
    }
}

/// What needs all functions: the layout of shared memory and the functions behind aliases.
pub(super) fn finish(program: &mut Program) {
    shared_memory(program);
    for (alias, target) in std::mem::take(&mut program.aliases) {
        let Some(target) = program.env.function(target).cloned() else { continue };
        if let Some((_, f)) = program.env.functions.get_index_mut(alias.0 as usize)
            && !f.defined
        {
            *f = Function { name: std::mem::take(&mut f.name), ..target };
        }
    }
}

/// Lays out static shared memory. Variables that several entries can reach lie at the bottom, at the same place for
/// all; the others lie above them, entry by entry, because only one entry's blocks use a block's shared memory.
fn shared_memory(program: &mut Program) {
    let entries: Vec<usize> =
        program.env.functions.values().enumerate().filter(|(_, f)| f.entry && f.defined).map(|(i, _)| i).collect();
    let reached: Vec<IndexSet<u32, FxBuildHasher>> = entries.iter().map(|entry| reach(program, *entry)).collect();
    let mut users = vec![0u32; program.shared.len()];
    reached.iter().flatten().for_each(|v| users[*v as usize] += 1);
    let mut offsets = vec![0u32; program.shared.len()];
    let mut bottom = 0u32;
    for (v, variable) in program.shared.iter().enumerate() {
        // A variable that no entry reaches still needs a place: a function may be called through an address.
        if users[v] != 1 {
            offsets[v] = align_up(bottom, variable.align).unwrap_or(u32::MAX);
            bottom = offsets[v].saturating_add(variable.bytes);
        }
    }
    for (entry, variables) in entries.iter().zip(&reached) {
        let shares = variables.iter().any(|v| users[*v as usize] > 1);
        let mut end = if shares { bottom } else { 0 };
        for variable in variables.iter().map(|v| *v as usize).filter(|v| users[*v] == 1) {
            let SharedVar { bytes, align, .. } = program.shared[variable];
            offsets[variable] = align_up(end, align).unwrap_or(u32::MAX);
            end = offsets[variable].saturating_add(bytes);
        }
        if let Some((_, f)) = program.env.functions.get_index_mut(*entry) {
            f.shared_bytes = end;
            let named = |v: &u32| {
                let SharedVar { name, bytes, .. } = &program.shared[*v as usize];
                SharedName { name: name.clone(), offset: offsets[*v as usize], bytes: *bytes }
            };
            f.shared = variables.iter().map(named).collect();
            let dynamic = f.dynamic_shared_at();
            let bytes = u32::MAX - dynamic;
            f.shared.extend(program.dynamic_shared.clone().map(|name| SharedName { name, offset: dynamic, bytes }));
        }
    }
    program.env.objects =
        std::mem::take(&mut program.owners).into_iter().map(|o| object(program, &offsets, o)).collect();
    let room = |owner: &u32| program.env.objects.get(*owner as usize).map_or(Room::ALL, Room::of);
    program.env.rooms = program.env.owners.iter().map(room).collect();
    for preload in program.env.functions.values_mut().flat_map(|f| &mut f.preloads) {
        if let Init::Within { of: Within { area: Area::Shared, first, bytes }, .. } = &mut preload.init
            && let Some(variable) = program.shared.get(*first as usize)
        {
            (*first, *bytes) = (offsets[*first as usize], variable.bytes);
        }
    }
}

/// Where an owner of accesses lies; `offsets` are those of shared variables.
fn object(program: &Program, offsets: &[u32], owner: Owner) -> Object {
    let Owner { base, bytes, name, entry } = owner;
    let sized = |kind, begin: u32, bytes: u32, framed| {
        let (begin, end) = if bytes == 0 { (0, u32::MAX) } else { (begin, begin.saturating_add(bytes)) };
        Object { kind, begin, end, framed, name: name.clone() }
    };
    match base {
        Base::Shared(v) => {
            // Another module may declare it larger.
            let bytes = program.shared.get(v as usize).map_or(0, |v| v.bytes);
            sized(AllocKind::Shared, offsets.get(v as usize).copied().unwrap_or(0), bytes, false)
        }
        Base::Param(at) => sized(AllocKind::Param, at, bytes, false),
        Base::Frame(at) => sized(AllocKind::Local, at, bytes, true),
        Base::Local(at) => sized(AllocKind::Local, at, bytes, false),
        // All arrays of dynamic shared memory are one, which ends where the launch says. Where it begins differs from kernel to
        // kernel, so that is known in their own code only.
        Base::DynamicShared | Base::Variable(_) => {
            let begin = entry.and_then(|e| program.env.function(e)).map_or(0, Function::dynamic_shared_at);
            Object { kind: AllocKind::Shared, begin, end: u32::MAX, framed: false, name }
        }
    }
}

/// The shared variables that an entry and all it may call use, in the order of first use.
fn reach(program: &Program, entry: usize) -> IndexSet<u32, FxBuildHasher> {
    let (mut order, mut visited, mut work) = (IndexSet::default(), FxHashSet::default(), vec![entry]);
    while let Some(function) = work.pop() {
        let Some(uses) = program.uses.get(function).filter(|_| visited.insert(function)) else { continue };
        order.extend(&uses.shared);
        work.extend(uses.calls.iter().map(|f| f.0 as usize));
        if uses.indirect {
            work.extend(program.taken.iter().map(|f| f.0 as usize));
        }
    }
    order
}
