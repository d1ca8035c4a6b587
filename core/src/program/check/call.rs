//! Calls against declarations and prototypes (PTX ISA 9.7.12.5).

use super::error::{CheckError, Problem};
use super::scope::{ParamKind, SymbolKind};
use super::{Checker, Parameter, Signature};
use crate::base::Span;
use crate::program::consts::{self, Value};
use crate::program::types::{Class, register_fits, type_info};
use crate::ptx::tree::{Call, Instr, Operand, OperandKind, StateSpace};

impl Checker<'_> {
    /// Checks `call (results), target, (arguments), table`.
    pub fn call(&mut self, instr: &Instr) {
        let Some(Call { results, target, arguments, rest: table @ ([] | [_]) }) = instr.call() else {
            let (opcode, given) = ("call".to_owned(), instr.operands.len());
            return self.error(Problem::OperandCount { opcode, given, least: 1, most: Some(4) }, instr.span);
        };
        let before = self.errors.len();
        self.names_of(&instr.operands);
        if self.errors.len() > before {
            return;
        }
        let OperandKind::Name(name) = target.kind else {
            return self.error(Problem::NotCallable { name: String::new() }, target.span);
        };
        let text = self.text(name);
        let signature = match (self.kind_of(name), table.first()) {
            (Some(SymbolKind::Function(_)), Some(table)) => {
                return self.error(Problem::NotCallable { name: text }, table.span);
            }
            (Some(SymbolKind::Function(_)), None) => self.checked.functions.get(&name).filter(|f| !f.entry).cloned(),
            (Some(SymbolKind::Register { ty, lanes: 1, .. }), table)
                if type_info(ty).is_some_and(|i| matches!(i.class, Class::Int | Class::Bits) && i.bits >= 32) =>
            {
                let found = table.and_then(|table| self.table_signature(table));
                if found.is_none() {
                    return self.error(Problem::NoPrototype, table.map_or(instr.span, |table| table.span));
                }
                found
            }
            _ => None,
        };
        let Some(signature) = signature else {
            return self.error(Problem::NotCallable { name: text }, target.span);
        };
        self.list(&text, &signature, results, true, instr.span);
        self.list(&text, &signature, arguments, false, instr.span);
    }

    /// The prototype of an indirect call; that of a kernel where the functions are not known.
    fn table_signature(&mut self, table: &Operand) -> Option<Signature> {
        let OperandKind::Name(name) = table.kind else { return None };
        match self.kind_of(name)? {
            SymbolKind::Prototype(index) => self.prototypes.get(index as usize).cloned(),
            SymbolKind::CallTargets(index) => {
                let first = self.call_targets.get(index as usize)?.first()?;
                self.checked.functions.get(first).cloned()
            }
            // A call table: an array of function addresses; its functions' types are not known here.
            SymbolKind::Variable { .. } => Some(Signature { entry: true, ..Signature::default() }),
            _ => None,
        }
    }

    fn list(&mut self, name: &str, signature: &Signature, given: &[Operand], results: bool, span: Span) {
        // The mark of a call table: nothing to compare with.
        if signature.entry {
            return;
        }
        let formal = if results { &signature.returns } else { &signature.params };
        let variadic = !results && formal.last().is_some_and(|p| p.array && p.bytes == 0);
        if given.len() != formal.len() && !(variadic && given.len() + 1 >= formal.len()) {
            let kind =
                Problem::CallCount { name: name.to_owned(), given: given.len(), declared: formal.len(), results };
            return self.errors.push(CheckError::with(kind, span, signature.span));
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
            OperandKind::Name(name) => match self.kind_of(*name) {
                Some(SymbolKind::Register { ty, lanes, .. }) => {
                    !formal.array && lanes == formal.lanes && register_fits(formal.ty, ty, false)
                }
                Some(SymbolKind::Variable { ty, bytes, array, space, param, .. }) => {
                    let param_space = space == StateSpace::Param && param == ParamKind::No;
                    param_space
                        && (bytes == formal.bytes || formal.bytes == 0)
                        && array == formal.array
                        && register_fits(formal.ty, ty, false)
                }
                Some(SymbolKind::Function(_)) => !result && !formal.array,
                _ => false,
            },
            OperandKind::Sink => result,
            // As ptxas has it: an array is given by a variable. One without a size takes what is left of a call.
            _ if formal.array && formal.bytes != 0 => false,
            OperandKind::Member(name, _) => self.register(*name).is_some(),
            constant => match consts::operand(constant) {
                Some(Ok(Value::Int { .. } | Value::Address(_))) => !result && !matches!(class, Some(Class::Float)),
                Some(Ok(_)) => !result && !matches!(class, Some(Class::Int)),
                Some(Err(_)) | None => false,
            },
        }
    }
}
