//! Constant expressions (PTX ISA 4.5): step 2 of the report's 5.1.3.
//!
//! Integers are 64 bits wide, signed or unsigned: an operation is unsigned when one of its operands is, as in C;
//! comparisons and logical operators give a signed 0 or 1. Floating constants combine with nothing but a sign, `+ - * /`
//! and comparisons.

use crate::base::{Span, phrases};
use crate::ptx::tree::{BinaryOp, Expr, ExprKind, Name, OperandKind, UnaryOp};
use std::cmp::Ordering;

/// The value of a constant expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer.
    Int {
        /// Its 64 bits.
        bits: u64,
        /// Whether it is unsigned.
        unsigned: bool,
    },
    /// The bits of a `0f…` literal.
    F32(u32),
    /// A double.
    F64(f64),
    /// An address: a symbol and a byte offset.
    Address(Address),
}

/// The address of a symbol in a constant expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Address {
    /// The symbol.
    pub name: Name,
    /// Where its name stands.
    pub span: Span,
    /// The byte offset.
    pub offset: i64,
    /// `generic(…)`: its generic address.
    pub generic: bool,
    /// `0xFF00(…)`: the mask of the byte that is meant.
    pub mask: Option<u64>,
}

phrases! {
    /// Why an expression has no value.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum ConstError {
        /// `/` or `%` by zero.
        DivisionByZero => ("a constant is divided by zero");
        /// An operator that its operands do not have, such as `1.5 & 2` or `a * 2` of an address.
        BadOperands => ("this constant expression has no value");
        /// The expression nests deeper than [`MAX_DEPTH`].
        TooDeep => ("this constant expression nests too deeply");
    }
}

/// How deep an expression may nest.
pub const MAX_DEPTH: u32 = 200;

/// Evaluates a constant expression.
///
/// # Errors
/// The reason and the place.
pub fn evaluate(expr: &Expr) -> Result<Value, (ConstError, Span)> {
    eval(expr, 0)
}

/// The integer that a constant expression is, if it is one.
#[must_use]
pub fn integer(expr: &Expr) -> Option<u64> {
    if let Ok(Value::Int { bits, .. }) = evaluate(expr) { Some(bits) } else { None }
}

/// The value of a constant operand; `None` for any other operand.
#[must_use]
pub fn operand(operand: &OperandKind) -> Option<Result<Value, (ConstError, Span)>> {
    Some(match operand {
        OperandKind::Int(value) => Ok(int(value.cast_unsigned(), false)),
        OperandKind::F32(bits) => Ok(Value::F32(*bits)),
        OperandKind::F64(bits) => Ok(Value::F64(f64::from_bits(*bits))),
        OperandKind::Const(expr) => evaluate(expr),
        _ => return None,
    })
}

fn int(bits: u64, unsigned: bool) -> Value {
    Value::Int { bits, unsigned }
}

fn eval(expr: &Expr, depth: u32) -> Result<Value, (ConstError, Span)> {
    if depth > MAX_DEPTH {
        return Err((ConstError::TooDeep, expr.span));
    }
    let bad = (ConstError::BadOperands, expr.span);
    let sub = |e: &Expr| eval(e, depth + 1);
    Ok(match &expr.kind {
        ExprKind::Int { bits, unsigned } => int(*bits, *unsigned),
        ExprKind::F32(bits) => Value::F32(*bits),
        ExprKind::F64(bits) => Value::F64(f64::from_bits(*bits)),
        ExprKind::WarpSize => int(32, false),
        ExprKind::Name(name) => {
            Value::Address(Address { name: *name, span: expr.span, offset: 0, generic: false, mask: None })
        }
        ExprKind::Generic(of) => match sub(of)? {
            Value::Address(a) => Value::Address(Address { generic: true, ..a }),
            _ => return Err(bad),
        },
        ExprKind::Mask(mask, of) => match sub(of)? {
            Value::Address(a) => Value::Address(Address { mask: Some(*mask), ..a }),
            Value::Int { bits, unsigned } => int((bits & mask) >> mask.trailing_zeros().min(63), unsigned),
            _ => return Err(bad),
        },
        ExprKind::Cast { unsigned, of } => match sub(of)? {
            Value::Int { bits, .. } => int(bits, *unsigned),
            _ => return Err(bad),
        },
        ExprKind::Unary(op, of) => unary(*op, sub(of)?).ok_or(bad)?,
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (sub(a)?, sub(b)?);
            if matches!((op, b), (BinaryOp::Div | BinaryOp::Rem, Value::Int { bits: 0, .. })) {
                return Err((ConstError::DivisionByZero, expr.span));
            }
            binary(*op, a, b).ok_or(bad)?
        }
        ExprKind::Ternary(c, a, b) => {
            let (c, a, b) = (sub(c)?, sub(a)?, sub(b)?);
            let Value::Int { bits, .. } = c else { return Err(bad) };
            if bits == 0 { b } else { a }
        }
    })
}

fn unary(op: UnaryOp, value: Value) -> Option<Value> {
    Some(match (op, value) {
        (UnaryOp::Plus, v) => v,
        (UnaryOp::Neg, Value::Int { bits, unsigned }) => int(bits.wrapping_neg(), unsigned),
        (UnaryOp::Neg, Value::F64(x)) => Value::F64(-x),
        (UnaryOp::Neg, Value::F32(bits)) => Value::F32(bits ^ 0x8000_0000),
        (UnaryOp::Not, Value::Int { bits, .. }) => int(u64::from(bits == 0), false),
        (UnaryOp::BitNot, Value::Int { bits, unsigned }) => int(!bits, unsigned),
        _ => return None,
    })
}

fn number(value: Value) -> Option<f64> {
    match value {
        Value::F64(x) => Some(x),
        Value::F32(bits) => Some(f64::from(f32::from_bits(bits))),
        _ => None,
    }
}

fn binary(op: BinaryOp, a: Value, b: Value) -> Option<Value> {
    use BinaryOp as B;
    match (a, b) {
        (Value::Int { bits: a, unsigned: u }, Value::Int { bits: b, unsigned: v }) => integers(op, a, b, u, v),
        (Value::Address(a), Value::Int { bits, .. }) => {
            let offset = match op {
                B::Add => a.offset.wrapping_add(bits.cast_signed()),
                B::Sub => a.offset.wrapping_sub(bits.cast_signed()),
                _ => return None,
            };
            Some(Value::Address(Address { offset, ..a }))
        }
        (Value::Int { .. }, Value::Address(_)) if op == B::Add => binary(op, b, a),
        _ => {
            let (a, b) = (number(a)?, number(b)?);
            match op {
                B::Add => Some(Value::F64(a + b)),
                B::Sub => Some(Value::F64(a - b)),
                B::Mul => Some(Value::F64(a * b)),
                B::Div => Some(Value::F64(a / b)),
                _ => comparison(op, a.partial_cmp(&b)),
            }
        }
    }
}

/// Whether two numbers in an order, or in none, are as a comparison says; `None` for another operator.
fn comparison(op: BinaryOp, order: Option<Ordering>) -> Option<Value> {
    let holds = match op {
        BinaryOp::Lt => order.is_some_and(Ordering::is_lt),
        BinaryOp::Le => order.is_some_and(Ordering::is_le),
        BinaryOp::Gt => order.is_some_and(Ordering::is_gt),
        BinaryOp::Ge => order.is_some_and(Ordering::is_ge),
        BinaryOp::Eq => order == Some(Ordering::Equal),
        BinaryOp::Ne => order != Some(Ordering::Equal),
        _ => return None,
    };
    Some(int(holds.into(), false))
}

/// Integer operators; the divisor is not zero.
fn integers(op: BinaryOp, a: u64, b: u64, a_unsigned: bool, b_unsigned: bool) -> Option<Value> {
    use BinaryOp as B;
    let unsigned = a_unsigned || b_unsigned;
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let shift = u32::try_from(b & 63).unwrap_or(0);
    let order = if unsigned { a.cmp(&b) } else { sa.cmp(&sb) };
    Some(match op {
        B::Mul => int(a.wrapping_mul(b), unsigned),
        B::Add => int(a.wrapping_add(b), unsigned),
        B::Sub => int(a.wrapping_sub(b), unsigned),
        B::Div if unsigned => int(a.checked_div(b).unwrap_or(0), true),
        B::Div => int(sa.wrapping_div(sb).cast_unsigned(), false),
        B::Rem if unsigned => int(a.checked_rem(b).unwrap_or(0), true),
        B::Rem => int(sa.wrapping_rem(sb).cast_unsigned(), false),
        B::Shl => int(if b > 63 { 0 } else { a << shift }, a_unsigned),
        B::Shr if a_unsigned => int(if b > 63 { 0 } else { a >> shift }, true),
        B::Shr => int((if b > 63 { sa >> 63 } else { sa >> shift }).cast_unsigned(), false),
        B::BitAnd => int(a & b, unsigned),
        B::BitOr => int(a | b, unsigned),
        B::BitXor => int(a ^ b, unsigned),
        B::And => int((a != 0 && b != 0).into(), false),
        B::Or => int((a != 0 || b != 0).into(), false),
        _ => return comparison(op, Some(order)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(value: i64) -> Box<Expr> {
        let kind = ExprKind::Int { bits: value.cast_unsigned(), unsigned: false };
        Box::new(Expr { kind, span: Span::default() })
    }

    fn of(op: BinaryOp, a: i64, b: i64) -> Result<Value, (ConstError, Span)> {
        evaluate(&Expr { kind: ExprKind::Binary(op, literal(a), literal(b)), span: Span::default() })
    }

    #[test]
    fn integers_have_sixty_four_bits() {
        assert_eq!(of(BinaryOp::Div, -7, 2), Ok(int((-3i64).cast_unsigned(), false)));
        assert_eq!(of(BinaryOp::Shl, 1, 63), Ok(int(1 << 63, false)));
        assert_eq!(of(BinaryOp::Div, i64::MIN, -1), Ok(int(1 << 63, false)));
        assert_eq!(of(BinaryOp::Lt, -1, 1), Ok(int(1, false)));
    }

    #[test]
    fn division_by_zero_is_an_error() {
        assert_eq!(of(BinaryOp::Rem, 7, 0), Err((ConstError::DivisionByZero, Span::default())));
    }
}
