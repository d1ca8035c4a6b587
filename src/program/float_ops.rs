//! The table of floating-point operations.

use super::ops::define_ops;

/// name (sources) -> destination [| mode] = scalar function of `alu::float`
macro_rules! float_ops {
    ($then:ident) => {
        $then! { FloatOp, float;
            AddF32 (w w) -> w = add_f32;
        }
    };
}
#[allow(unused_imports, reason = "expanded by `alu` and the machine")]
pub(crate) use float_ops;

float_ops!(define_ops);
