//! Declarations: registers, variables, parameters and their initialisers (PTX ISA 5.4).

use super::error::{CheckError, Problem};
use super::scope::{ParamKind, SymbolKind};
use super::{Checker, Parameter};
use crate::base::Span;
use crate::program::consts::{self, ConstError, Value};
use crate::program::forms::Need;
use crate::program::layout;
use crate::program::types::{Class, declarable, lanes, opaque, type_info};
use crate::ptx::Modifier;
use crate::ptx::tree::{Declarator, Expr, Ident, Initialiser, Linkage, StateSpace, Variable};

/// Bytes of variables whose space is small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    constant: u64,
    pub(super) local: u64,
}

/// Bytes of `.const` variables of a module (PTX ISA 5.1.3).
const CONST_BYTES: u64 = 64 << 10;

impl Checker<'_> {
    /// A variable at module scope.
    pub fn module_variable(&mut self, variable: &Variable) {
        let space = variable.space;
        if matches!(space, StateSpace::Reg | StateSpace::Local | StateSpace::Param) && !self.legacy() {
            let space = space.name().to_owned();
            self.error(Problem::DeclaredSpace { space, scope: "module" }, variable.span);
        }
        self.variables(variable, Self::module_name);
    }

    /// Declares the names of a declaration by `declare`.
    fn variables(&mut self, variable: &Variable, declare: impl Fn(&mut Self, &Variable, Ident, SymbolKind)) {
        self.type_of(variable);
        for declarator in &variable.declarators {
            let kind = self.kind(variable, declarator, ParamKind::No);
            self.array_size(variable, declarator);
            declare(self, variable, declarator.ident, kind);
            self.initialiser(variable, declarator);
            self.room(variable.space, kind, variable.linkage, declarator);
        }
    }

    /// Declares a name of module scope. That may be repeated while one of the two declarations is `.extern`.
    fn module_name(&mut self, variable: &Variable, ident: Ident, kind: SymbolKind) {
        let old = self.scopes.lookup(self.names, ident.name).cloned();
        let (Some(old), Some(linkage)) = (old, self.linkage.get(&ident.name).copied()) else {
            self.declare(ident.name, ident.span, kind);
            self.linkage.insert(ident.name, variable.linkage);
            return;
        };
        let name = self.text(ident.name);
        let problem = match (linkage, variable.linkage) {
            _ if !same_variable(old.kind, kind) => Problem::Inconsistent { name, what: "type" },
            (Some(Linkage::Extern), None) => Problem::Inconsistent { name, what: "linkage" },
            (Some(Linkage::Extern), _) | (_, Some(Linkage::Extern)) => return,
            _ => Problem::Duplicate { name },
        };
        self.errors.push(CheckError::with(problem, ident.span, old.span));
    }

    /// A variable takes its place among those of its space: `ptxas` refuses what does not fit. Local memory of a thread is
    /// that of the CUDA C++ Programming Guide, "Compute capabilities".
    fn room(&mut self, space: StateSpace, kind: SymbolKind, linkage: Option<Linkage>, declarator: &Declarator) {
        let SymbolKind::Variable { bytes, align, .. } = kind else { return };
        let (taken, most) = match space {
            StateSpace::Const if linkage != Some(Linkage::Extern) => (&mut self.taken.constant, CONST_BYTES),
            StateSpace::Local => (&mut self.taken.local, if self.checked.sm < 20 { 16 << 10 } else { 512 << 10 }),
            _ => return,
        };
        let before = *taken;
        *taken = before.next_multiple_of(u64::from(align.max(1))).saturating_add(bytes);
        let bytes = *taken;
        // Whatever follows does not fit either: once is enough.
        if before <= most && bytes > most {
            self.error(Problem::NoRoom { space: space.name().to_owned(), bytes, most }, declarator.ident.span);
        }
    }

    /// A declaration in a body.
    pub fn body_variable(&mut self, variable: &Variable) {
        if matches!(variable.space, StateSpace::Sreg | StateSpace::Generic) {
            let space = variable.space.name().to_owned();
            self.error(Problem::DeclaredSpace { space, scope: "body" }, variable.span);
        }
        let owned = matches!(variable.space, StateSpace::Reg | StateSpace::Local | StateSpace::Param);
        if owned && variable.linkage.is_some() {
            let why = "a register or local variable is not visible outside";
            self.error(Problem::Directive { name: "linkage".to_owned(), why }, variable.span);
        }
        self.variables(variable, |checker, _, ident, kind| checker.declare(ident.name, ident.span, kind));
    }

    /// A formal parameter; declares it unless it is `_`.
    pub fn parameter(&mut self, variable: &Variable, side: ParamKind, declare: bool) -> Parameter {
        self.type_of(variable);
        let declarator = variable.declarators.first();
        let kind = declarator.map(|d| self.kind(variable, d, side));
        if let (true, Some(kind), Some(declarator)) = (declare, kind, declarator) {
            self.declare(declarator.ident.name, declarator.ident.span, kind);
        }
        let array = declarator.is_some_and(|d| !d.dims.is_empty());
        let element = u64::from(layout::element_bytes(variable));
        let bytes = match kind {
            Some(SymbolKind::Variable { bytes, .. }) => bytes,
            _ => element,
        };
        let align = variable.align.unwrap_or(u32::try_from(element).unwrap_or(1));
        let register = variable.space == StateSpace::Reg;
        Parameter { ty: variable.ty, lanes: lanes(variable.vector), array, bytes, align, register }
    }

    /// The type, the vector and the alignment against the space.
    fn type_of(&mut self, variable: &Variable) {
        let (ty, span, space) = (variable.ty, variable.span, variable.space);
        let bad_type = !declarable(ty)
            || ty == Modifier::PRED && space != StateSpace::Reg
            || ty == Modifier::F16X2 && space == StateSpace::Param
            || opaque(ty)
                && matches!(space, StateSpace::Reg | StateSpace::Local | StateSpace::Shared | StateSpace::Const);
        if bad_type {
            let problem = Problem::DeclaredType { ty: self.word(ty), space: space.name().to_owned() };
            self.error(problem, span);
        }
        let lanes = lanes(variable.vector);
        let wide = layout::element_bytes(variable) > 16;
        if lanes > 1 && (wide || lanes == 8 || ty == Modifier::PRED || space == StateSpace::Param) {
            self.error(Problem::VectorType { ty: self.word(ty), lanes }, span);
        }
        let need = match ty {
            Modifier::B128 => Some(Need::new((8, 3), 70)),
            Modifier::F16X2 => Some(Need::new((4, 2), 53)),
            _ => None,
        };
        if let Some(need) = need.filter(|need| !bad_type && !self.has(*need)) {
            let problem = self.lacks(format!("type {}", self.word(ty)), need);
            self.error(problem, span);
        }
        for align in variable.align.into_iter().chain(variable.ptr.and_then(|p| p.align)) {
            if !align.is_power_of_two() {
                self.error(Problem::Alignment { align }, span);
            }
        }
    }

    fn kind(&mut self, variable: &Variable, declarator: &Declarator, param: ParamKind) -> SymbolKind {
        let lanes = lanes(variable.vector);
        if variable.space == StateSpace::Reg {
            return SymbolKind::Register { ty: variable.ty, lanes, count: declarator.range };
        }
        let element = u64::from(layout::element_bytes(variable));
        let mut bytes = element;
        for dim in &declarator.dims {
            let n = match dim.as_ref().map(consts::evaluate) {
                Some(Ok(Value::Int { bits, .. })) => Ok(bits),
                Some(Ok(_)) => Err((ConstError::BadOperands, declarator.ident.span)),
                Some(Err(error)) => Err(error),
                None => Ok(layout::elements(declarator.init.as_ref())),
            };
            bytes = bytes.saturating_mul(n.unwrap_or(0));
            if let Err((error, span)) = n {
                self.error(Problem::Constant(error), span);
            }
        }
        let align = variable.align.unwrap_or(u32::try_from(element.max(1)).unwrap_or(1));
        let array = !declarator.dims.is_empty();
        SymbolKind::Variable { space: variable.space, ty: variable.ty, bytes, align, array, param }
    }

    fn array_size(&mut self, variable: &Variable, declarator: &Declarator) {
        let ident = declarator.ident;
        if variable.space == StateSpace::Reg {
            if !declarator.dims.is_empty() {
                self.error(Problem::RegisterArray { name: self.text(ident.name) }, ident.span);
            }
            return;
        }
        let empty = declarator.dims.iter().enumerate().any(|(index, dim)| match dim {
            None => index > 0 || declarator.init.is_none(),
            Some(expr) => consts::integer(expr) == Some(0),
        });
        if empty && variable.linkage != Some(Linkage::Extern) && variable.space != StateSpace::Param {
            self.error(Problem::Incomplete { name: self.text(ident.name) }, ident.span);
        }
    }

    fn initialiser(&mut self, variable: &Variable, declarator: &Declarator) {
        let Some(init) = &declarator.init else { return };
        let name = self.text(declarator.ident.name);
        let span = declarator.ident.span;
        let allowed = matches!(variable.space, StateSpace::Global | StateSpace::Const | StateSpace::Tex);
        if !allowed || variable.linkage == Some(Linkage::Extern) {
            self.error(Problem::NoInitialiser { name, space: variable.space.name().to_owned() }, span);
            return;
        }
        let size = |dim: &Option<Expr>| dim.as_ref().and_then(consts::integer);
        let mut dims: Vec<Option<u64>> = declarator.dims.iter().map(size).collect();
        if lanes(variable.vector) > 1 {
            dims.push(Some(u64::from(lanes(variable.vector))));
        }
        self.initial(init, &dims, variable.ty, &name, span);
    }

    fn initial(&mut self, init: &Initialiser, dims: &[Option<u64>], ty: Modifier, name: &str, span: Span) {
        match (init, dims) {
            (Initialiser::Value(expr), []) => self.initial_value(expr, ty),
            (Initialiser::Fields(..), _) if opaque(ty) => {}
            (Initialiser::Ints(list, at), [dim]) => {
                self.fits(list.len(), *dim, name, *at);
                if type_info(ty).is_none_or(|i| i.class == Class::Float) && !list.is_empty() {
                    self.bad_initialiser(ty, *at);
                }
            }
            (Initialiser::List(list, at), [dim, rest @ ..]) => {
                self.fits(list.len(), *dim, name, *at);
                for inner in list {
                    // One brace per dimension; a flat list fills the outermost one only.
                    self.initial(inner, rest, ty, name, *at);
                }
            }
            (Initialiser::Ints(_, at), [_, ..]) => self.error(Problem::InitialiserType { ty: String::new() }, *at),
            (Initialiser::Value(expr), _) => self.bad_initialiser(ty, expr.span),
            _ => self.bad_initialiser(ty, span),
        }
    }

    fn bad_initialiser(&mut self, ty: Modifier, span: Span) {
        self.error(Problem::InitialiserType { ty: self.word(ty) }, span);
    }

    fn fits(&mut self, given: usize, dim: Option<u64>, name: &str, span: Span) {
        if let Some(elements) = dim.filter(|n| u64::try_from(given).is_ok_and(|g| g > *n)) {
            self.error(Problem::TooManyElements { name: name.to_owned(), elements }, span);
        }
    }

    fn initial_value(&mut self, expr: &Expr, ty: Modifier) {
        let class = type_info(ty);
        let ok = match consts::evaluate(expr) {
            Err((error, span)) => return self.error(Problem::Constant(error), span),
            Ok(Value::Int { .. }) => class.is_some_and(|i| matches!(i.class, Class::Int | Class::Bits)),
            Ok(Value::F32(_) | Value::F64(_)) => class.is_some_and(|i| matches!(i.class, Class::Float | Class::Bits)),
            Ok(Value::Address(address)) => match self.kind_of(address.name) {
                None => return self.undeclared(address.name, address.span),
                Some(SymbolKind::Variable { space, .. })
                    if !matches!(space, StateSpace::Global | StateSpace::Const | StateSpace::Tex) =>
                {
                    false
                }
                Some(SymbolKind::Variable { .. } | SymbolKind::Function(_)) => {
                    let big = class.is_some_and(|i| i.bits >= 32 || address.mask.is_some() && i.bits == 8);
                    big && class.is_some_and(|i| matches!(i.class, Class::Int | Class::Bits))
                }
                Some(_) => false,
            },
        };
        if !ok {
            self.bad_initialiser(ty, expr.span);
        }
    }
}

fn same_variable(a: SymbolKind, b: SymbolKind) -> bool {
    match (a, b) {
        (
            SymbolKind::Variable { space: s, ty: t, bytes: n, .. },
            SymbolKind::Variable { space: u, ty: v, bytes: m, .. },
        ) => s == u && t == v && (n == m || n == 0 || m == 0),
        _ => false,
    }
}
