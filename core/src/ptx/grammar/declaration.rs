//! Declarations of variables, registers and parameters (PTX ISA 5.4, 11.3 to 11.5).

use super::Reader;
use crate::ptx::Modifier;
use crate::ptx::error::Expected;
use crate::ptx::token::Kind;
use crate::ptx::tree::{Declarator, Expr, Initialiser, Linkage, PtrAttribute, StateSpace, Variable};
use smallvec::SmallVec;

impl Reader<'_> {
    /// `.visible` and the like.
    pub(super) fn linkage(&mut self) -> Option<Linkage> {
        let linkage = self.token().and_then(|token| Linkage::named(self.str(token)));
        self.at += usize::from(linkage.is_some());
        linkage
    }

    /// A state space and its bank.
    fn space(&mut self) -> Option<(StateSpace, Option<u32>)> {
        let token = self.take(Expected::Space, |_, t| t.kind.starts_variable() && t.kind != Kind::Attribute)?;
        let text = self.str(token);
        if let Some(space) = StateSpace::named(text) {
            return Some((space, None));
        }
        let digits = text.trim_start_matches(".const[").trim_end_matches(']');
        Some((StateSpace::Const, digits.parse().ok()))
    }

    /// What follows the word `.attribute`, e.g. `(.managed)`: the text between the outer parentheses.
    pub(super) fn attribute(&mut self) -> Option<String> {
        let property = |r: &mut Self| {
            r.take(Expected::Name, |_, t| t.kind.is_dot())?;
            r.after(Kind::LParen, |r| r.until::<_, Vec<_>>(Kind::Comma, Kind::RParen, |r| r.is(Kind::Int)))
        };
        let list = |r: &mut Self| r.placed(|r| r.list(Kind::Comma, property));
        self.between(Kind::LParen, Kind::RParen, list).map(|list| list.span.of(self.text).to_owned())
    }

    /// `.align 8`, perhaps.
    fn align(&mut self) -> Option<Option<u32>> {
        self.after(Kind::Align, Self::small)
    }

    /// A type and, before it, a vector size.
    fn typed(&mut self) -> Option<(Option<Modifier>, Modifier)> {
        let first = self.is(Kind::Dot)?;
        let size = self.modifier(first);
        if !matches!(self.str(first), ".v2" | ".v4" | ".v8") {
            return Some((None, size));
        }
        let ty = self.is(Kind::Dot)?;
        Some((Some(size), self.modifier(ty)))
    }

    fn dims(&mut self) -> Option<SmallVec<[Option<Expr>; 1]>> {
        let mut dims = SmallVec::new();
        while self.is(Kind::LBracket).is_some() {
            let open = self.is(Kind::RBracket).is_some();
            dims.push(if open { None } else { Some(self.int()?) });
            if !open {
                self.is(Kind::RBracket)?;
            }
        }
        Some(dims)
    }

    /// One declared name with its range or dimensions and its initialiser.
    fn declarator(&mut self) -> Option<Declarator> {
        let ident = self.declared()?;
        let range = self.after(Kind::Lt, |r| r.small().filter(|_| r.is(Kind::Gt).is_some()))?;
        let dims = self.dims()?;
        let init = self.after(Kind::Eq, |r| match r.kind() {
            Some(Kind::LBrace) => r.table(),
            _ => r.value().map(Initialiser::Value),
        })?;
        Some(Declarator { ident, range, dims, init })
    }

    /// A declaration with its semicolon.
    pub(crate) fn variable(&mut self) -> Option<Variable> {
        let from = self.at;
        let mut attributes = Vec::new();
        while self.is(Kind::Attribute).is_some() {
            attributes.push(self.attribute()?);
        }
        let linkage = self.linkage();
        let (space, bank) = self.space()?;
        let mut align = None;
        loop {
            if self.is(Kind::Align).is_some() {
                align = Some(self.small()?);
            } else if self.is(Kind::Attribute).is_some() {
                attributes.push(self.attribute()?);
            } else {
                break;
            }
        }
        let (vector, ty) = self.typed()?;
        let declarators = self.until(Kind::Comma, Kind::Semi, Self::declarator)?;
        let span = self.since(from);
        Some(Variable { linkage, space, bank, align, vector, ty, ptr: None, attributes, declarators, span })
    }

    /// `.param .u64 .ptr .global .align 8 p`: a parameter of a function or prototype.
    fn parameter(&mut self) -> Option<Variable> {
        let from = self.at;
        let (space, bank) = self.space()?;
        let early = self.align()?;
        let (vector, ty) = self.typed()?;
        let ptr = self.after(Kind::Ptr, |r| {
            let space = r.space().map(|(space, _)| space);
            Some(PtrAttribute { space, align: r.align()? })
        })?;
        let late = self.align()?;
        let declarator = Declarator { ident: self.declared()?, range: None, dims: self.dims()?, init: None };
        Some(Variable {
            linkage: None,
            space,
            bank,
            align: early.or(late),
            vector,
            ty,
            ptr,
            attributes: Vec::new(),
            declarators: SmallVec::from_elem(declarator, 1),
            span: self.since(from),
        })
    }

    /// `( .param .u64 p, … )`, perhaps: the parameters of a function or prototype.
    pub(super) fn parameters(&mut self) -> Option<Vec<Variable>> {
        if self.is(Kind::LParen).is_none() {
            return Some(Vec::new());
        }
        let mut list: Vec<_> = self.until(Kind::Comma, Kind::RParen, Self::parameter)?;
        list.shrink_to_fit();
        Some(list)
    }
}
