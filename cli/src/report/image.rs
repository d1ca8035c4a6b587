//! The words for what is wrong with a texture or surface instruction.

use super::diagnostic::Diagnostic;
use super::words::{counted, words};
use crate::verdict::{ImageKind, ImageProblem as P};

/// The words for a problem.
pub(super) fn words_of(problem: &P) -> Diagnostic {
    match problem {
        P::NoHandle { value, wanted, inside } => no_handle(*value, *wanted, inside.as_deref()),
        P::OtherKind { name, found, wanted } => words(
            format!("`{name}` is a {}, not a {}", found.name(), wanted.name()),
            format!("the instruction needs a {}", wanted.name()),
        )
        .hint(match wanted {
            ImageKind::Surface => "make a surface of the same memory, and pass that: a texture cannot be written",
            ImageKind::Texture => {
                "make a texture of the same memory, and pass that: a surface has no filter and no addressing modes"
            }
            ImageKind::Sampler => "name a texture first and its sampler second: [texture, sampler, coordinates]",
        }),
        P::Unbound { name, wanted } => words(
            format!("nothing is bound to the {} `{name}`", wanted.type_name()),
            format!("a {} must be bound to it before the launch", wanted.name()),
        )
        .hint(format!("variable = \"{name}\" in the {} of the launch file binds it", wanted.name())),
        P::Geometry { name, kind, found, wanted } => words(
            format!("`{name}` is a {} {}, and is accessed as a {} one", shape(found), kind.name(), shape(wanted)),
            format!("this needs a {} {}", shape(wanted), kind.name()),
        )
        .hint("call the function for its shape, or make it with the shape that the kernel expects"),
        P::Gives { name, format, normalised, wanted } => gives(name, format, *normalised, wanted),
        P::Blends { name, sampler, format } => words(
            format!("sampler `{sampler}` has a linear filter, and the `{format}` texels of `{name}` are integers"),
            "integers cannot be blended",
        )
        .hint("read them by a sampler with filter = \"point\", or as fractions (read = \"normalised\")"),
        P::Linear { name } => words(
            format!("texture `{name}` is linear memory, which has no fractional coordinates"),
            "fetched at a floating-point coordinate",
        )
        .hint("read it with tex1Dfetch, or make it with geometry = \"1d\""),
        P::Offset { offset } => words(format!("an offset of {offset} texels"), "offsets are -8 to 7")
            .hint("add larger ones to the coordinates"),
        P::Level { name, level, levels } => words(
            format!("`{name}` has {} of detail, and level {level} is asked for", counted((*levels).into(), "level")),
            if *levels == 1 { "its only level is 0".to_owned() } else { format!("its levels are 0 to {}", levels - 1) },
        ),
        P::Reduces { name, format, channels, bits } => words(
            format!(
                "surface `{name}` has texels of {} of type `{format}`, and they are reduced as integers of {bits} bits",
                counted((*channels).into(), "channel"),
            ),
            "the surface's format has no such integers",
        )
        .hint("a formatted reduction needs one channel, u32 or s32; sured.b works on the bytes of any format"),
        P::Outside { name, axis, in_bytes, coordinate, end, bytes, write } => {
            let unit = if *in_bytes { "byte " } else { "" };
            let does = if *write { "write" } else { "read" };
            words(
                format!("invalid {does} of {} at {axis} = {unit}{coordinate} of surface `{name}`", counted((*bytes).into(), "byte")),
                match (*in_bytes, *coordinate < 0) {
                    (_, true) => format!("{axis} is negative"),
                    (true, _) => format!("a row has {}", counted(*end, "byte")),
                    (false, _) => format!("{axis} must be less than {end}"),
                },
            )
            .hint(if *in_bytes {
                "compare the coordinate with the width before the access; x counts bytes here, so that it is multiplied by the size of a texel"
            } else {
                "compare the coordinate with the size before the access, or use boundary mode zero or clamp"
            })
        }
        P::Misaligned { name, x, bytes, write } => words(
            format!(
                "misaligned {} of {bytes} bytes at x = byte {x} of surface `{name}`",
                if *write { "write" } else { "read" }
            ),
            format!("{x} is no multiple of {bytes}"),
        )
        .hint("x counts bytes: multiply it by the size of a texel"),
    }
}

/// A value that is no handle.
fn no_handle(value: u64, wanted: ImageKind, inside: Option<&str>) -> Diagnostic {
    let kind = wanted.name();
    let diagnostic = words(
        if value == 0 { format!("the {kind}'s handle is 0") } else { format!("{value:#x} is no handle of a {kind}") },
        match (value, inside) {
            (0, _) => "no object was made, or another parameter was read".to_owned(),
            (_, Some(name)) => format!("it is an address in `{name}`"),
            _ => "no object has this handle".to_owned(),
        },
    );
    diagnostic.hint(match wanted {
        ImageKind::Texture => "pass a texture: --arg texture:NAME, or { texture = \"NAME\" } in a launch file",
        ImageKind::Surface => "pass a surface: --arg surface:NAME, or { surface = \"NAME\" } in a launch file",
        ImageKind::Sampler => "pass a sampler: --arg sampler:NAME, or { sampler = \"NAME\" } in a launch file",
    })
}

/// Results of another type than the texture gives.
fn gives(name: &str, format: &str, normalised: bool, wanted: &str) -> Diagnostic {
    let floats = wanted.starts_with('f');
    let message = if normalised {
        format!("texture `{name}` gives fractions of its `{format}` texels, and is read as `.{wanted}`")
    } else {
        format!("texture `{name}` has `{format}` texels, and is read as `.{wanted}`")
    };
    let label = if floats { "floating-point numbers are read here" } else { "integers are read here" };
    words(message, label).hint(match (floats, format.starts_with('f')) {
        (true, _) => "read it by an integer type, or as fractions of 8 and 16 bits (read = \"normalised\")",
        (false, true) => "read it by a floating-point type",
        (false, false) => "read it by a floating-point type, or leave the integers as they are (read = \"element\")",
    })
}

/// A shape in words.
fn shape(word: &str) -> &'static str {
    match word {
        "1d" => "1D",
        "2d" => "2D",
        "3d" => "3D",
        "a1d" => "layered 1D",
        "a2d" => "layered 2D",
        "cube" => "cube",
        _ => "layered cube",
    }
}
