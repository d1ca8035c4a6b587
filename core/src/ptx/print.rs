//! The printer: a tree as PTX text.
//!
//! Print ∘ parse ∘ print is the identity: what is printed parses to a tree that prints the same. Comments, blanks and
//! the way numbers were written are not kept; floating-point literals are printed by their bits.

use super::grammar::precedence;
use super::tree::{BinaryOp, PtrAttribute};
use super::tree::{
    Debugging, Declarator, Expr, ExprKind, Function, FunctionDirective, Guard, Initialiser, Instr, Item, Linkage, Loc,
    Module, Name, Names, Operand, OperandKind, StateSpace, Stmt, UnaryOp, Variable,
};
use std::fmt::Write;

/// A module as PTX text. Parsing the text gives the same module but for spans.
#[must_use]
pub fn print(module: &Module) -> String {
    let mut printer = Printer { names: &module.names, out: String::new() };
    for item in &module.items {
        printer.item(item);
    }
    printer.out
}

/// One instruction as PTX text without its guard's indentation and without a line feed.
#[must_use]
pub fn print_instr(instr: &Instr, names: &Names) -> String {
    let mut printer = Printer { names, out: String::new() };
    printer.instr(instr);
    printer.out
}

struct Printer<'a> {
    names: &'a Names,
    out: String,
}

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($self:ident, $($arg:tt)*) => { let _ = write!($self.out, $($arg)*); };
}

impl Printer<'_> {
    fn name(&mut self, name: Name) {
        self.out.push_str(self.names.text(name));
    }

    /// Separates what `f` prints by `, `.
    fn list<T>(&mut self, items: &[T], mut f: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            f(self, item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Version { major, minor, .. } => {
                put!(self, ".version {major}.{minor}");
            }
            Item::Target { names, .. } => {
                self.out.push_str(".target ");
                self.list(names, |p, n| p.name(n.name));
            }
            Item::AddressSize { bits, .. } => {
                put!(self, ".address_size {bits}");
            }
            Item::Variable(variable) => self.variable(variable),
            Item::Function(function) => return self.function(function),
            Item::Alias { alias, aliasee, .. } => {
                self.out.push_str(".alias ");
                self.name(alias.name);
                self.out.push_str(", ");
                self.name(aliasee.name);
                self.out.push(';');
            }
            Item::Debug(debugging) => self.debugging(debugging),
        }
        self.out.push('\n');
    }

    fn debugging(&mut self, debugging: &Debugging) {
        match debugging {
            Debugging::File { index, path, rest, .. } => {
                put!(self, ".file {index} \"{path}\"");
                for n in rest {
                    put!(self, ", {n}");
                }
            }
            Debugging::Loc(Loc { file, line, column, function, inlined_at, .. }) => {
                put!(self, ".loc {file} {line} {column}");
                if let Some((label, offset)) = function {
                    self.out.push_str(", function_name ");
                    self.name(*label);
                    if *offset != 0 {
                        put!(self, " + {offset}");
                    }
                }
                if let Some((file, line, column)) = inlined_at {
                    put!(self, ", inlined_at {file} {line} {column}");
                }
            }
            Debugging::Pragma { texts, .. } => self.pragma(texts),
            Debugging::Section { name, body, .. } => {
                put!(self, ".section {name} {{{body}}}");
            }
            Debugging::Dwarf { text, .. } => self.out.push_str(text),
        }
    }

    fn pragma(&mut self, texts: &[String]) {
        self.out.push_str(".pragma ");
        self.list(texts, |p, text| {
            put!(p, "\"{text}\"");
        });
        self.out.push(';');
    }

    fn linkage(&mut self, linkage: Option<Linkage>) {
        self.out.push_str(match linkage {
            None => "",
            Some(Linkage::Visible) => ".visible ",
            Some(Linkage::Extern) => ".extern ",
            Some(Linkage::Weak) => ".weak ",
            Some(Linkage::Common) => ".common ",
        });
    }

    /// A declaration without its semicolon: a parameter.
    fn declaration(&mut self, variable: &Variable) {
        self.linkage(variable.linkage);
        self.out.push_str(space(variable.space));
        if let Some(bank) = variable.bank {
            put!(self, "[{bank}]");
        }
        for attribute in &variable.attributes {
            put!(self, " .attribute({attribute})");
        }
        if let Some(align) = variable.align {
            put!(self, " .align {align}");
        }
        if let Some(vector) = variable.vector {
            put!(self, " .{}", vector.text(self.names));
        }
        put!(self, " .{}", variable.ty.text(self.names));
        if let Some(PtrAttribute { space: to, align }) = variable.ptr {
            self.out.push_str(" .ptr");
            if let Some(to) = to {
                put!(self, " {}", space(to));
            }
            if let Some(align) = align {
                put!(self, " .align {align}");
            }
        }
        self.out.push(' ');
        self.list(&variable.declarators, Self::declarator);
    }

    fn variable(&mut self, variable: &Variable) {
        self.declaration(variable);
        self.out.push(';');
    }

    fn declarator(&mut self, declarator: &Declarator) {
        self.name(declarator.ident.name);
        if let Some(count) = declarator.range {
            put!(self, "<{count}>");
        }
        for dim in &declarator.dims {
            self.out.push('[');
            if let Some(size) = dim {
                self.expr(size, 0);
            }
            self.out.push(']');
        }
        if let Some(init) = &declarator.init {
            self.out.push_str(" = ");
            self.initialiser(init);
        }
    }

    fn initialiser(&mut self, init: &Initialiser) {
        match init {
            Initialiser::Value(value) => self.expr(value, 0),
            Initialiser::Ints(ints, _) => {
                self.out.push('{');
                self.list(ints, |p, n| {
                    put!(p, "{n}");
                });
                self.out.push('}');
            }
            Initialiser::List(list, _) => {
                self.out.push('{');
                self.list(list, Self::initialiser);
                self.out.push('}');
            }
            Initialiser::Fields(fields, _) => {
                self.out.push('{');
                self.list(fields, |p, (field, value)| {
                    p.name(field.name);
                    p.out.push_str(" = ");
                    p.expr(value, 0);
                });
                self.out.push('}');
            }
        }
    }

    fn function(&mut self, function: &Function) {
        self.linkage(function.linkage);
        self.out.push_str(if function.entry { ".entry " } else { ".func " });
        for directive in function.directives.iter().filter(|d| d.name == "attribute") {
            for text in &directive.texts {
                put!(self, ".attribute({text}) ");
            }
        }
        if !function.returns.is_empty() {
            self.parameters(&function.returns);
            self.out.push(' ');
        }
        self.name(function.ident.name);
        self.parameters(&function.params);
        self.directives(&function.directives);
        let Some(body) = &function.body else {
            self.out.push_str(";\n");
            return;
        };
        self.out.push_str("\n{\n");
        for stmt in body {
            self.stmt(stmt);
        }
        self.out.push_str("}\n");
    }

    fn parameters(&mut self, list: &[Variable]) {
        self.out.push('(');
        self.list(list, Self::declaration);
        self.out.push(')');
    }

    fn directives(&mut self, directives: &[FunctionDirective]) {
        for directive in directives {
            match directive.name.as_str() {
                "attribute" => {}
                "pragma" => {
                    self.out.push('\n');
                    self.pragma(&directive.texts);
                }
                name => {
                    put!(self, "\n.{name} ");
                    self.list(&directive.values, |p, n| {
                        put!(p, "{n}");
                    });
                }
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Label(label) => {
                self.name(label.name);
                self.out.push_str(":\n");
                return;
            }
            Stmt::Open(_) => self.out.push_str("\t{"),
            Stmt::Close(_) => self.out.push_str("\t}"),
            Stmt::Instr(instr) => {
                self.out.push('\t');
                self.instr(instr);
            }
            Stmt::Variable(variable) => {
                self.out.push('\t');
                self.variable(variable);
            }
            Stmt::Prototype(prototype) => {
                self.name(prototype.ident.name);
                self.out.push_str(": .callprototype ");
                self.parameters(&prototype.returns);
                self.out.push_str(" _ ");
                self.parameters(&prototype.params);
                self.directives(&prototype.directives);
                self.out.push(';');
            }
            Stmt::Targets { ident, call, targets, .. } => {
                self.name(ident.name);
                self.out.push_str(if *call { ": .calltargets " } else { ": .branchtargets " });
                self.list(targets, |p, t| p.name(t.name));
                self.out.push(';');
            }
            Stmt::Debug(debugging) => {
                self.out.push('\t');
                self.debugging(debugging);
            }
        }
        self.out.push('\n');
    }

    fn instr(&mut self, instr: &Instr) {
        if let Some(Guard { pred, negated }) = instr.guard {
            self.out.push_str(if negated { "@!" } else { "@" });
            self.name(pred.name);
            self.out.push(' ');
        }
        self.out.push_str(instr.opcode.text(self.names));
        for modifier in &instr.mods {
            put!(self, ".{}", modifier.text(self.names));
        }
        if !instr.operands.is_empty() {
            self.out.push(' ');
        }
        self.list(&instr.operands, Self::operand);
        self.out.push(';');
    }

    fn enclosed(&mut self, open: char, list: &[Operand], close: char) {
        self.out.push(open);
        self.list(list, Self::operand);
        self.out.push(close);
    }

    fn operand(&mut self, operand: &Operand) {
        match &operand.kind {
            OperandKind::Name(name) => self.name(*name),
            OperandKind::Not(name) => {
                self.out.push('!');
                self.name(*name);
            }
            OperandKind::Minus(name) => {
                self.out.push('-');
                self.name(*name);
            }
            OperandKind::Member(name, component) => {
                self.name(*name);
                self.out.push_str([".x", ".y", ".z", ".w"][usize::from(*component & 3)]);
            }
            OperandKind::Select { name, negated, selector } => {
                if *negated {
                    self.out.push('-');
                }
                self.name(*name);
                put!(self, ".{}", selector.text(self.names));
            }
            OperandKind::Const(expr) => self.expr(expr, 0),
            OperandKind::Int(value) => {
                put!(self, "{value}");
            }
            OperandKind::F32(bits) => {
                put!(self, "0f{bits:08X}");
            }
            OperandKind::F64(bits) => {
                put!(self, "0d{bits:016X}");
            }
            OperandKind::Sink => self.out.push('_'),
            OperandKind::Address(address) => {
                self.out.push('[');
                match (&address.base, &address.offset) {
                    (Some(base), Some(offset)) => {
                        self.name(base.name);
                        self.out.push('+');
                        self.expr(offset, 0);
                    }
                    (Some(base), None) => self.name(base.name),
                    (None, Some(offset)) => self.expr(offset, 0),
                    (None, None) => self.out.push('0'),
                }
                self.out.push(']');
                if address.unified {
                    self.out.push_str(".unified");
                }
            }
            OperandKind::Vector(list) => self.enclosed('{', list, '}'),
            OperandKind::Tuple(list) => self.enclosed('(', list, ')'),
            OperandKind::Bracket(list) => self.enclosed('[', list, ']'),
            OperandKind::Pair(pair) => {
                self.operand(&pair.0);
                self.out.push('|');
                self.operand(&pair.1);
            }
            OperandKind::Index(name, index) => {
                self.name(*name);
                self.out.push('[');
                self.expr(index, 0);
                self.out.push(']');
            }
        }
    }

    /// An expression, in parentheses when an operator around it binds tighter than `least`. Depth is bounded by
    /// [`MAX_NESTING`](super::MAX_NESTING).
    fn expr(&mut self, expr: &Expr, least: u8) {
        let level = match &expr.kind {
            ExprKind::Ternary(..) => 0,
            ExprKind::Binary(op, ..) => precedence(*op),
            _ => u8::MAX,
        };
        // A symbol plus a number is not an expression over numbers and takes no parentheses.
        if level < least {
            self.out.push('(');
            self.expr(expr, 0);
            self.out.push(')');
            return;
        }
        match &expr.kind {
            ExprKind::Int { bits, unsigned: true } => {
                put!(self, "{bits}U");
            }
            ExprKind::Int { bits, unsigned: false } => {
                put!(self, "{}", bits.cast_signed());
            }
            ExprKind::F32(bits) => {
                put!(self, "0f{bits:08X}");
            }
            ExprKind::F64(bits) => {
                put!(self, "0d{bits:016X}");
            }
            ExprKind::WarpSize => self.out.push_str("WARP_SZ"),
            ExprKind::Name(name) => self.name(*name),
            ExprKind::Generic(of) => {
                self.out.push_str("generic(");
                self.expr(of, 0);
                self.out.push(')');
            }
            ExprKind::Mask(mask, of) => {
                put!(self, "0x{mask:X}(");
                self.expr(of, 0);
                self.out.push(')');
            }
            ExprKind::Cast { unsigned, of } => {
                self.out.push_str(if *unsigned { "(.u64)" } else { "(.s64)" });
                self.expr(of, u8::MAX);
            }
            ExprKind::Unary(op, of) => {
                self.out.push_str(match op {
                    UnaryOp::Plus => "+",
                    UnaryOp::Neg => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                });
                self.expr(of, u8::MAX);
            }
            ExprKind::Binary(op, left, right) => {
                self.expr(left, level);
                put!(self, " {} ", operator(*op));
                self.expr(right, level + 1);
            }
            ExprKind::Ternary(condition, yes, no) => {
                self.expr(condition, 1);
                self.out.push_str(" ? ");
                self.expr(yes, 0);
                self.out.push_str(" : ");
                self.expr(no, 0);
            }
        }
    }
}

const fn space(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Reg => ".reg",
        StateSpace::Sreg => ".sreg",
        StateSpace::Const => ".const",
        StateSpace::Global => ".global",
        StateSpace::Local => ".local",
        StateSpace::Param => ".param",
        StateSpace::Shared => ".shared",
        StateSpace::Tex => ".tex",
        StateSpace::Generic => "",
    }
}

const fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}
