//! Which forms of texture and surface instructions there are, against what ptxas was recorded to say (`forms.txt`).

const FORMS: &str = include_str!("forms.txt");

/// Whether the checker accepts an instruction.
fn accepts(instruction: &str) -> Result<(), String> {
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 t) {{\n.reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .f32 %f<20>;\n\
         .reg .b16 %h<9>; .reg .b16 %rs<9>; .reg .pred %p<4>; .reg .b32 %x<9>; .reg .f64 %fd<4>; .reg .v4 .f32 %v<2>; .reg .u64 %ru<4>;\n\
         .reg .u32 %u<20>; .reg .s32 %s<20>;\n{instruction}\nret; }}\n"
    );
    let (module, syntax) = warpstep::ptx::parse(&text);
    if let Some(error) = syntax.first() {
        return Err(format!("{:?}", error.kind));
    }
    let (_, errors) = warpstep::program::check::check(&module);
    errors.first().map_or(Ok(()), |error| Err(format!("{:?}", error.kind)))
}

#[test]
fn the_checker_agrees_with_ptxas() {
    let mut wrong = Vec::new();
    let lines: Vec<&str> = FORMS.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() > 180);
    for line in lines {
        let (verdict, instruction) = line.split_at(2);
        match (verdict, accepts(instruction)) {
            ("+ ", Err(why)) => wrong.push(format!("refused ({why}): {instruction}")),
            ("- ", Ok(())) => wrong.push(format!("accepted: {instruction}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
