//! Calls against declarations and prototypes (PTX ISA 9.7.12.5).

use super::error::{CheckError, Found, Problem};
use super::scope::{ParamKind, SymbolKind};
use super::{Checker, Parameter, Signature};
use crate::program::consts::{self, Value};
use crate::program::types::{Class, register_fits, type_info};
use crate::ptx::tree::{Instr, Operand, OperandKind};

impl Checker<'_> {
    /// Checks `call (results), target, (arguments), table`.
    pub fn call(&mut self, instr: &Instr) {
        let mut rest: &[Operand] = &instr.operands;
        let mut results: &[Operand] = &[];
        let mut arguments: &[Operand] = &[];
        if let [Operand { kind: OperandKind::Tuple(list), .. }, tail @ ..] = rest {
            results = list;
            rest = tail;
        }
        let opcode = || "call".to_owned();
        let Some((target, tail)) = rest.split_first() else {
            let given = instr.operands.len();
            return self.error(Problem::OperandCount { opcode: opcode(), given, least: 1, most: Some(4) }, instr.span);
        };
        rest = tail;
        if let [Operand { kind: OperandKind::Tuple(list), .. }, tail @ ..] = rest {
            arguments = list;
            rest = tail;
        }
        let table = rest.first();
        if rest.len() > 1 {
            let given = instr.operands.len();
            return self.error(Problem::OperandCount { opcode: opcode(), given, least: 1, most: Some(4) }, instr.span);
        }
        let before = self.errors.len();
        self.names_of(&instr.operands);
        if self.errors.len() > before {
            return;
        }
        let OperandKind::Name(name) = target.kind else {
            return self.error(Problem::NotCallable { name: String::new() }, target.span);
        };
        let text = self.text(name);
        let kind = self.scopes.lookup(self.names, name).map(|s| s.kind);
        let signature = match kind {
            Some(SymbolKind::Function(_)) => {
                if let Some(table) = table {
                    return self.error(Problem::NotCallable { name: text }, table.span);
                }
                self.checked.functions.get(&name).filter(|f| !f.entry).cloned()
            }
            Some(SymbolKind::Register { ty, lanes: 1, .. })
                if type_info(ty).is_some_and(|i| matches!(i.class, Class::Int | Class::Bits) && i.bits >= 32) =>
            {
                let Some(table) = table else { return self.error(Problem::NoPrototype, instr.span) };
                match self.table_signature(table) {
                    Some(signature) => signature,
                    None => return self.error(Problem::NoPrototype, table.span),
                }
            }
            _ => None,
        };
        let Some(signature) = signature else {
            return self.error(Problem::NotCallable { name: text }, target.span);
        };
        self.list(&text, results, &signature.returns, &signature, true, instr);
        self.list(&text, arguments, &signature.params, &signature, false, instr);
    }

    /// The prototype of an indirect call; `Some(None)` never occurs, an unknown table is `None`.
    #[expect(clippy::option_option, reason = "the outer one says whether the label is a table at all")]
    fn table_signature(&mut self, table: &Operand) -> Option<Option<Signature>> {
        let OperandKind::Name(name) = table.kind else { return None };
        match self.scopes.lookup(self.names, name)?.kind {
            SymbolKind::Prototype(index) => self.prototypes.get(index as usize).cloned().map(Some),
            SymbolKind::CallTargets(index) => {
                let first = self.call_targets.get(index as usize)?.first()?;
                self.checked.functions.get(first).cloned().map(Some)
            }
            // A call table: an array of function addresses; its functions' types are not known here.
            SymbolKind::Variable { .. } => Some(Some(Signature { entry: true, ..Signature::default() })),
            _ => None,
        }
    }

    fn list(
        &mut self,
        name: &str,
        given: &[Operand],
        formal: &[Parameter],
        signature: &Signature,
        results: bool,
        instr: &Instr,
    ) {
        // The mark of a call table: nothing to compare with.
        if signature.entry {
            return;
        }
        let variadic = !results && formal.last().is_some_and(|p| p.array && p.bytes == 0);
        if given.len() != formal.len() && !(variadic && given.len() + 1 >= formal.len()) {
            let kind =
                Problem::CallCount { name: name.to_owned(), given: given.len(), declared: formal.len(), results };
            return self.errors.push(CheckError::with(kind, instr.span, signature.span));
        }
        for (number, (operand, formal)) in given.iter().zip(formal).enumerate() {
            if !self.argument(operand, formal, results) {
                let kind = Problem::CallArgument { name: name.to_owned(), number: number + 1, results };
                self.errors.push(CheckError::with(kind, operand.span, signature.span));
            }
        }
    }

    fn argument(&mut self, operand: &Operand, formal: &Parameter, result: bool) -> bool {
        let class = type_info(formal.ty).map(|i| i.class);
        match &operand.kind {
            OperandKind::Name(name) => match self.scopes.lookup(self.names, *name).map(|s| s.kind) {
                Some(SymbolKind::Register { ty, lanes, .. }) => {
                    !formal.array && lanes == formal.lanes && register_fits(formal.ty, ty, false)
                }
                Some(SymbolKind::Variable { ty, bytes, array, space, param, .. }) => {
                    let param_space = space == crate::ptx::tree::StateSpace::Param && param == ParamKind::No;
                    param_space
                        && (bytes == formal.bytes || formal.bytes == 0)
                        && array == formal.array
                        && register_fits(formal.ty, ty, false)
                }
                Some(SymbolKind::Function(_)) => !result,
                _ => false,
            },
            OperandKind::Int(_) => !result && !matches!(class, Some(Class::Float)),
            OperandKind::F32(_) | OperandKind::F64(_) => !result && !matches!(class, Some(Class::Int)),
            OperandKind::Const(expr) => match consts::evaluate(expr) {
                Ok(Value::Int { .. } | Value::Address(_)) => !result && !matches!(class, Some(Class::Float)),
                Ok(_) => !result && !matches!(class, Some(Class::Int)),
                Err(_) => false,
            },
            OperandKind::Sink => result,
            _ => matches!(self.found_kind(operand), Some(Found::Register(..))),
        }
    }

    fn found_kind(&mut self, operand: &Operand) -> Option<Found> {
        match operand.kind {
            OperandKind::Member(name, _) => self.found(name),
            _ => None,
        }
    }
}
