//! The printer: a tree as PTX text.
//!
//! Print ∘ parse ∘ print is the identity: what is printed parses to a tree that prints the same. Comments, blanks and
//! the way numbers were written are not kept; floating-point literals are printed by their bits.

use super::Modifier;
use super::grammar::operator;
use super::tree::{
    Address, Debugging, Declarator, Expr, ExprKind, Function, FunctionDirective, Guard, Ident, Initialiser, Instr,
    Item, Linkage, Loc, Module, Name, Names, Operand, OperandKind, PtrAttribute, Stmt, Variable,
};

/// A module as PTX text. Parsing the text gives the same module but for spans.
#[must_use]
pub fn print(module: &Module) -> String {
    let printer = Printer(&module.names);
    module.items.iter().map(|item| printer.item(item)).collect()
}

struct Printer<'a>(&'a Names);

/// What `f` makes of each item, separated by `, `.
fn list<T, S: AsRef<str>>(items: &[T], f: impl Fn(&T) -> S) -> String {
    let mut out = String::new();
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        out.push_str(f(item).as_ref());
    }
    out
}

/// What `f` makes of a part that may be absent.
fn some<T>(part: Option<T>, f: impl FnOnce(T) -> String) -> String {
    part.map(f).unwrap_or_default()
}

fn pragma(texts: &[String]) -> String {
    format!(".pragma {};", list(texts, |text| format!("\"{text}\"")))
}

fn linkage(linkage: Option<Linkage>) -> String {
    some(linkage, |linkage| format!("{} ", linkage.name()))
}

impl Printer<'_> {
    fn name(&self, name: Name) -> &str {
        self.0.text(name)
    }

    fn word(&self, modifier: Modifier) -> String {
        format!(".{}", modifier.text(self.0))
    }

    fn names(&self, names: &[Ident]) -> String {
        list(names, |ident| self.name(ident.name))
    }

    fn item(&self, item: &Item) -> String {
        let text = match item {
            Item::Version { major, minor, .. } => format!(".version {major}.{minor}"),
            Item::Target { names, .. } => format!(".target {}", self.names(names)),
            Item::AddressSize { bits, .. } => format!(".address_size {bits}"),
            Item::Variable(variable) => self.declaration(variable) + ";",
            Item::Function(function) => return self.function(function),
            Item::Alias { alias, aliasee, .. } => format!(".alias {};", self.names(&[*alias, *aliasee])),
            Item::Debug(debugging) => self.debugging(debugging),
        };
        text + "\n"
    }

    fn debugging(&self, debugging: &Debugging) -> String {
        match debugging {
            Debugging::File { index, path, rest } => {
                let rest: String = rest.iter().map(|n| format!(", {n}")).collect();
                format!(".file {index} \"{path}\"{rest}")
            }
            Debugging::Loc(Loc { file, line, column, function, inlined_at, .. }) => {
                let function = some(*function, |(label, offset)| {
                    let offset = if offset == 0 { String::new() } else { format!(" + {offset}") };
                    format!(", function_name {}{offset}", self.name(label))
                });
                let inlined = some(*inlined_at, |(file, line, column)| format!(", inlined_at {file} {line} {column}"));
                format!(".loc {file} {line} {column}{function}{inlined}")
            }
            Debugging::Pragma { texts, .. } => pragma(texts),
            Debugging::Section { name, body, .. } => format!(".section {name} {{{body}}}"),
            Debugging::Dwarf(text) => text.clone(),
        }
    }

    /// A declaration without its semicolon: a parameter.
    fn declaration(&self, variable: &Variable) -> String {
        let align = |align: Option<u32>| some(align, |align| format!(" .align {align}"));
        let space = variable.space.name();
        let bank = some(variable.bank, |bank| format!("[{bank}]"));
        let attributes: String = variable.attributes.iter().map(|text| format!(" .attribute({text})")).collect();
        let vector = some(variable.vector, |vector| format!(" {}", self.word(vector)));
        let ptr = some(variable.ptr, |PtrAttribute { space: to, align: at }| {
            format!(" .ptr{}{}", some(to, |to| format!(" {}", to.name())), align(at))
        });
        let (linkage, ty, at) = (linkage(variable.linkage), self.word(variable.ty), align(variable.align));
        let names = list(&variable.declarators, |declarator| self.declarator(declarator));
        format!("{linkage}{space}{bank}{attributes}{at}{vector} {ty}{ptr} {names}")
    }

    fn declarator(&self, declarator: &Declarator) -> String {
        let range = some(declarator.range, |count| format!("<{count}>"));
        let dims = declarator.dims.iter().map(|dim| format!("[{}]", some(dim.as_ref(), |size| self.expr(size, 0))));
        let init = some(declarator.init.as_ref(), |init| format!(" = {}", self.initialiser(init)));
        format!("{}{range}{}{init}", self.name(declarator.ident.name), dims.collect::<String>())
    }

    fn initialiser(&self, init: &Initialiser) -> String {
        let inside = match init {
            Initialiser::Value(value) => return self.expr(value, 0),
            Initialiser::Ints(ints, _) => list(ints, i64::to_string),
            Initialiser::List(inner, _) => list(inner, |init| self.initialiser(init)),
            Initialiser::Fields(fields) => {
                list(fields, |(field, value)| format!("{} = {}", self.name(field.name), self.expr(value, 0)))
            }
        };
        format!("{{{inside}}}")
    }

    fn function(&self, function: &Function) -> String {
        let mut head = linkage(function.linkage) + if function.entry { ".entry " } else { ".func " };
        for directive in function.directives.iter().filter(|d| d.name == "attribute") {
            head.extend(directive.texts.iter().map(|text| format!(".attribute({text}) ")));
        }
        if !function.returns.is_empty() {
            head += &(self.parameters(&function.returns) + " ");
        }
        head += &(self.name(function.ident.name).to_owned() + &self.parameters(&function.params));
        head += &directives(&function.directives);
        match &function.body {
            Some(body) => format!("{head}\n{{\n{}}}\n", body.iter().map(|stmt| self.stmt(stmt)).collect::<String>()),
            None => head + ";\n",
        }
    }

    fn parameters(&self, params: &[Variable]) -> String {
        format!("({})", list(params, |param| self.declaration(param)))
    }

    fn stmt(&self, stmt: &Stmt) -> String {
        let text = match stmt {
            Stmt::Label(label) => format!("{}:", self.name(label.name)),
            Stmt::Open => "\t{".to_owned(),
            Stmt::Close => "\t}".to_owned(),
            Stmt::Instr(instr) => format!("\t{}", self.instr(instr)),
            Stmt::Variable(variable) => format!("\t{};", self.declaration(variable)),
            Stmt::Prototype(prototype) => {
                let (returns, params) = (self.parameters(&prototype.returns), self.parameters(&prototype.params));
                let (name, tuning) = (self.name(prototype.ident.name), directives(&prototype.directives));
                format!("{name}: .callprototype {returns} _ {params}{tuning};")
            }
            Stmt::Targets { ident, call, targets } => {
                let kind = if *call { ".calltargets" } else { ".branchtargets" };
                format!("{}: {kind} {};", self.name(ident.name), self.names(targets))
            }
            Stmt::Debug(debugging) => format!("\t{}", self.debugging(debugging)),
        };
        text + "\n"
    }

    fn instr(&self, instr: &Instr) -> String {
        let guard = some(instr.guard, |Guard { pred, negated }| {
            format!("@{}{} ", if negated { "!" } else { "" }, self.name(pred.name))
        });
        let words: String = instr.mods.iter().map(|word| self.word(*word)).collect();
        let blank = if instr.operands.is_empty() { "" } else { " " };
        format!("{guard}{}{words}{blank}{};", instr.opcode.text(self.0), self.operands(&instr.operands))
    }

    fn operands(&self, operands: &[Operand]) -> String {
        list(operands, |operand| self.operand(operand))
    }

    fn operand(&self, operand: &Operand) -> String {
        match &operand.kind {
            OperandKind::Name(name) => self.name(*name).to_owned(),
            OperandKind::Not(name) => format!("!{}", self.name(*name)),
            OperandKind::Minus(name) => format!("-{}", self.name(*name)),
            OperandKind::Member(name, component) => {
                format!("{}{}", self.name(*name), [".x", ".y", ".z", ".w"][usize::from(*component & 3)])
            }
            OperandKind::Select { name, negated, selector } => {
                format!("{}{}{}", if *negated { "-" } else { "" }, self.name(*name), self.word(*selector))
            }
            OperandKind::Const(expr) => self.expr(expr, 0),
            OperandKind::Int(value) => value.to_string(),
            OperandKind::F32(bits) => format!("0f{bits:08X}"),
            OperandKind::F64(bits) => format!("0d{bits:016X}"),
            OperandKind::Sink => "_".to_owned(),
            OperandKind::Address(address) => self.address(address),
            OperandKind::Vector(list) => format!("{{{}}}", self.operands(list)),
            OperandKind::Tuple(list) => format!("({})", self.operands(list)),
            OperandKind::Bracket(list) => format!("[{}]", self.operands(list)),
            OperandKind::Pair(pair) => format!("{}|{}", self.operand(&pair.0), self.operand(&pair.1)),
            OperandKind::Index(name, index) => format!("{}[{}]", self.name(*name), self.expr(index, 0)),
        }
    }

    fn address(&self, Address { base, offset, unified }: &Address) -> String {
        let inside = match (base, offset) {
            (Some(base), Some(offset)) => format!("{}+{}", self.name(base.name), self.expr(offset, 0)),
            (Some(base), None) => self.name(base.name).to_owned(),
            (None, Some(offset)) => self.expr(offset, 0),
            (None, None) => "0".to_owned(),
        };
        format!("[{inside}]{}", if *unified { ".unified" } else { "" })
    }

    /// An expression, in parentheses when an operator around it binds tighter than `least`. Depth is bounded by
    /// [`MAX_NESTING`](super::MAX_NESTING).
    fn expr(&self, expr: &Expr, least: u8) -> String {
        let level = match &expr.kind {
            ExprKind::Ternary(..) => 0,
            ExprKind::Binary(op, ..) => operator(*op).1,
            _ => u8::MAX,
        };
        // A symbol plus a number is not an expression over numbers and takes no parentheses.
        if level < least {
            return format!("({})", self.expr(expr, 0));
        }
        match &expr.kind {
            ExprKind::Int { bits, unsigned: true } => format!("{bits}U"),
            ExprKind::Int { bits, unsigned: false } => bits.cast_signed().to_string(),
            ExprKind::F32(bits) => format!("0f{bits:08X}"),
            ExprKind::F64(bits) => format!("0d{bits:016X}"),
            ExprKind::WarpSize => "WARP_SZ".to_owned(),
            ExprKind::Name(name) => self.name(*name).to_owned(),
            ExprKind::Generic(of) => format!("generic({})", self.expr(of, 0)),
            ExprKind::Mask(mask, of) => format!("0x{mask:X}({})", self.expr(of, 0)),
            ExprKind::Cast { unsigned, of } => {
                format!("(.{}64){}", if *unsigned { 'u' } else { 's' }, self.expr(of, u8::MAX))
            }
            ExprKind::Unary(op, of) => {
                format!("{}{}", op.name(), self.expr(of, u8::MAX))
            }
            ExprKind::Binary(op, left, right) => {
                format!("{} {} {}", self.expr(left, level), operator(*op).0, self.expr(right, level + 1))
            }
            ExprKind::Ternary(condition, yes, no) => {
                format!("{} ? {} : {}", self.expr(condition, 1), self.expr(yes, 0), self.expr(no, 0))
            }
        }
    }
}

fn directives(directives: &[FunctionDirective]) -> String {
    let line = |directive: &FunctionDirective| match directive.name.as_str() {
        "attribute" => String::new(),
        "pragma" => format!("\n{}", pragma(&directive.texts)),
        name => format!("\n.{name} {}", list(&directive.values, u32::to_string)),
    };
    directives.iter().map(line).collect()
}
