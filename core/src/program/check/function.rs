//! Functions: heads, directives, bodies.

use super::error::{CheckError, Problem};
use super::scope::{ParamKind, SymbolKind};
use super::{Checker, Parameter, Signature};
use crate::program::scope::labels;
use crate::ptx::tree::{Debugging, Function, FunctionDirective, Ident, Linkage, Prototype, StateSpace, Stmt, Variable};

impl Checker<'_> {
    /// A function or a prototype of one.
    pub fn function(&mut self, function: &Function) {
        self.scopes.open();
        let signature = self.signature(function);
        self.scopes.close();
        self.parameter_space(function, &signature);
        self.declare_function(function, signature);
        self.directives(&function.directives, function.entry);
        let Some(body) = &function.body else { return };
        self.prototypes.clear();
        self.call_targets.clear();
        self.taken.local = 0;
        // Parameters and the body's own names share a scope.
        self.scopes.open();
        let errors = self.errors.len();
        for (list, side) in [(&function.returns, ParamKind::Return), (&function.params, ParamKind::Input)] {
            for variable in list {
                self.parameter(variable, side, true);
            }
        }
        // Their types were complained about with the signature; a duplicate name is new.
        let duplicates: Vec<CheckError> =
            self.errors.drain(errors..).filter(|e| matches!(e.kind, Problem::Duplicate { .. })).collect();
        self.errors.extend(duplicates);
        self.body(body);
        self.scopes.close();
    }

    fn signature(&mut self, function: &Function) -> Signature {
        let entry = Some(function.entry);
        let signature = Signature {
            entry: function.entry,
            defined: function.body.is_some(),
            external: function.linkage == Some(Linkage::Extern),
            span: function.ident.span,
            returns: self.side(&function.returns, ParamKind::Return, entry),
            params: self.side(&function.params, ParamKind::Input, entry),
        };
        self.one_result(&function.returns);
        signature
    }

    /// The parameters of one side; the rules of those of a function depend on whether it is a kernel.
    fn side(&mut self, list: &[Variable], side: ParamKind, entry: Option<bool>) -> Vec<Parameter> {
        let one = |variable| {
            let parameter = self.parameter(variable, side, false);
            if let Some(entry) = entry {
                self.parameter_rules(variable, entry);
            }
            parameter
        };
        list.iter().map(one).collect()
    }

    /// Only registers can be several results (ptxas; PTX ISA 7.1 knows one result in parameter space).
    fn one_result(&mut self, returns: &[Variable]) {
        if let [_, second, ..] = returns
            && returns.iter().any(|r| r.space == StateSpace::Param)
        {
            self.error(Problem::SeveralResults, second.span);
        }
    }

    /// The room for a kernel's parameters (PTX ISA 5.1.6.1, and what ptxas allows for each version).
    fn parameter_space(&mut self, function: &Function, signature: &Signature) {
        let most = match self.checked.version {
            version if version >= (8, 1) && self.checked.sm >= 70 => 32_764,
            version if version >= (1, 5) => 4_352,
            _ => 256,
        };
        let end = |end: u64, p: &Parameter| {
            end.checked_next_multiple_of(p.align.max(1).into()).unwrap_or(u64::MAX).saturating_add(p.bytes)
        };
        let bytes = signature.params.iter().fold(0, end);
        if function.entry && bytes > most {
            let name = self.text(function.ident.name);
            self.error(Problem::ParameterSpace { name, bytes, most }, function.ident.span);
        }
    }

    fn parameter_rules(&mut self, variable: &Variable, entry: bool) {
        let ok = variable.space == StateSpace::Param || !entry && variable.space == StateSpace::Reg;
        if !ok {
            let problem = Problem::DeclaredSpace { space: variable.space.name().to_owned(), scope: "parameters" };
            self.error(problem, variable.span);
        }
        if variable.ptr.is_some() && !entry {
            let why = "only a kernel's parameter has it";
            self.error(Problem::Directive { name: ".ptr".to_owned(), why }, variable.span);
        }
        if let Some(declarator) = variable.declarators.first() {
            if entry && declarator.dims.iter().any(Option::is_none) {
                self.error(Problem::Incomplete { name: self.text(declarator.ident.name) }, declarator.ident.span);
            }
            if variable.space == StateSpace::Reg && !declarator.dims.is_empty() {
                self.error(Problem::RegisterArray { name: self.text(declarator.ident.name) }, declarator.ident.span);
            }
        }
    }

    /// Declares the function, or compares it with what was said of it before.
    fn declare_function(&mut self, function: &Function, signature: Signature) {
        let Ident { name, span } = function.ident;
        let Some(old) = self.checked.functions.get_mut(&name) else {
            let index = u32::try_from(self.checked.functions.len()).unwrap_or(u32::MAX);
            if let Some(other) = self.declared_at(name) {
                let kind = Problem::Inconsistent { name: self.text(name), what: "kind" };
                self.errors.push(CheckError::with(kind, span, other));
            } else {
                self.declare(name, span, SymbolKind::Function(index));
            }
            self.checked.functions.insert(name, signature);
            return;
        };
        let other = old.span;
        let text = self.names.text(name).to_owned();
        let what = if old.entry != signature.entry {
            Some("kind")
        } else if old.params.len() != signature.params.len() || old.returns.len() != signature.returns.len() {
            Some("number of parameters")
        } else if old.params != signature.params || old.returns != signature.returns {
            Some("parameter types")
        } else if old.external && signature.defined && function.linkage.is_none() {
            Some("linkage")
        } else {
            None
        };
        let twice = old.defined && signature.defined;
        if signature.defined {
            *old = signature;
        }
        if twice {
            self.errors.push(CheckError::with(Problem::Duplicate { name: text }, span, other));
        } else if let Some(what) = what {
            self.errors.push(CheckError::with(Problem::Inconsistent { name: text, what }, span, other));
        }
    }

    fn directives(&mut self, directives: &[FunctionDirective], entry: bool) {
        let has = |name: &str| directives.iter().any(|d| d.name == name);
        for directive in directives {
            self.pragma(&directive.texts, directive.span, false);
            let sizes = matches!(directive.name.as_str(), "maxntid" | "reqntid" | "maxnreg" | "reqnctapercluster");
            let why = if sizes && directive.values.contains(&0) {
                "a value is zero"
            } else if sizes && directive.values.is_empty() {
                "it needs a value"
            } else if directive.values.len() > 3 {
                "it has more than three values"
            } else if directive.name == "reqntid" && has("maxntid") {
                "a kernel has .maxntid or .reqntid, not both"
            } else if !entry && (sizes || directive.name == "minnctapersm" || directive.name == "maxnctapersm") {
                "only a kernel has it"
            } else if entry && directive.name == "noreturn" {
                "a kernel does not have it"
            } else {
                continue;
            };
            self.error(Problem::Directive { name: format!(".{}", directive.name), why }, directive.span);
        }
    }

    /// The statements of a body, in order; labels are declared when their block begins.
    fn body(&mut self, body: &[Stmt]) {
        let blocks = labels(body);
        let mut next = 1;
        self.declare_labels(&blocks, 0);
        let mut open = 0u32;
        for stmt in body {
            match stmt {
                Stmt::Open => {
                    self.scopes.open();
                    open += 1;
                    self.declare_labels(&blocks, next);
                    next += 1;
                }
                Stmt::Close => {
                    // The parser pairs them; a stray one must not close the function's scope.
                    if open > 0 {
                        open -= 1;
                        self.scopes.close();
                    }
                }
                Stmt::Variable(variable) => self.body_variable(variable),
                Stmt::Instr(instr) => self.instruction(instr),
                Stmt::Prototype(prototype) => self.prototype(prototype),
                Stmt::Targets { ident, call, targets, .. } => self.targets(*ident, *call, targets),
                Stmt::Debug(debug) => {
                    if let Debugging::Pragma { texts, span } = &**debug {
                        self.pragma(texts, *span, true);
                    }
                }
                Stmt::Label(_) => {}
            }
        }
        for _ in 0..open {
            self.scopes.close();
        }
    }

    fn declare_labels(&mut self, blocks: &[Vec<Ident>], block: usize) {
        for label in blocks.get(block).into_iter().flatten() {
            self.declare(label.name, label.span, SymbolKind::Label);
        }
    }

    fn prototype(&mut self, prototype: &Prototype) {
        let signature = Signature {
            span: prototype.span,
            returns: self.side(&prototype.returns, ParamKind::Return, None),
            params: self.side(&prototype.params, ParamKind::Input, None),
            ..Signature::default()
        };
        self.one_result(&prototype.returns);
        let index = u32::try_from(self.prototypes.len()).unwrap_or(u32::MAX);
        self.prototypes.push(signature);
        self.declare(prototype.ident.name, prototype.ident.span, SymbolKind::Prototype(index));
    }

    fn targets(&mut self, ident: Ident, call: bool, targets: &[Ident]) {
        for target in targets {
            let Some(kind) = self.kind_of(target.name) else {
                self.undeclared(target.name, target.span);
                continue;
            };
            let ok = if call { matches!(kind, SymbolKind::Function(_)) } else { kind == SymbolKind::Label };
            if !ok {
                self.error(Problem::NotCallable { name: self.text(target.name) }, target.span);
            }
        }
        let kind = if call {
            let index = u32::try_from(self.call_targets.len()).unwrap_or(u32::MAX);
            self.call_targets.push(targets.iter().map(|t| t.name).collect());
            SymbolKind::CallTargets(index)
        } else {
            SymbolKind::BranchTargets
        };
        self.declare(ident.name, ident.span, kind);
    }
}
