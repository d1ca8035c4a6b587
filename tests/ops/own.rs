//! The table of `table.txt`: each line is one operation, run as a kernel of one thread for each case.

use crate::case::engine;
use libtest_mimic::{Failed, Trial};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use warpstep::base::SourceMap;
use warpstep::launch::{Arg, Buffer, Data, Device, KernelLaunch, Scalar, build};
use warpstep::machine::Config;
use warpstep::verdict::Silent;

/// A line of the table.
struct Row {
    operation: String,
    inputs: Vec<String>,
    result: String,
    /// Operands after the inputs.
    suffix: String,
    /// The bits of the inputs and of the result.
    cases: Vec<(Vec<u64>, u64)>,
}

impl Row {
    fn read(line: &str) -> Self {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let [operation, types, suffix, cases] = parts[..] else { panic!("{line}") };
        let (inputs, result) = types.split_once("->").expect(line);
        let bits = |text: &str| u64::from_str_radix(text, 16).expect(line);
        let case = |text: &str| {
            let (inputs, result) = text.split_once("->").expect(line);
            (inputs.split_whitespace().map(bits).collect(), bits(result.trim()))
        };
        Self {
            operation: operation.to_owned(),
            inputs: inputs.split_whitespace().map(str::to_owned).collect(),
            result: result.trim().to_owned(),
            suffix: suffix.to_owned(),
            cases: cases.split(';').map(case).collect(),
        }
    }

    /// A kernel whose thread `t` reads its inputs as 64-bit words and writes the result as one.
    fn ptx(&self) -> String {
        let count = self.inputs.len();
        let mut text = format!(
            ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in)\n{{\n\
             .reg .b32 %t, %n; .reg .b64 %o, %i, %x; .reg .b32 %y;\n\
             ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; mov.u32 %t, %tid.x;\n\
             mad.wide.u32 %o, %t, 8, %o; mad.wide.u32 %i, %t, {}, %i;\n",
            8 * count
        );
        let mut operands = vec!["%d".to_owned()];
        for (k, ty) in self.inputs.iter().enumerate() {
            let declared = if ty == "bf16" { "b16" } else { ty };
            write!(text, ".reg .{declared} %a{k}; ld.global.u64 %x, [%i+{}]; ", 8 * k).unwrap();
            text += &match bits(ty) {
                1 => format!("setp.ne.u64 %a{k}, %x, 0;\n"),
                16 => format!("cvt.u32.u64 %y, %x; mov.b32 {{%a{k}, _}}, %y;\n"),
                32 => format!("cvt.u32.u64 %y, %x; mov.b32 %a{k}, %y;\n"),
                _ => format!("mov.b64 %a{k}, %x;\n"),
            };
            operands.push(format!("%a{k}"));
        }
        operands.extend((!self.suffix.is_empty()).then(|| self.suffix.clone()));
        let declared = if self.result == "bf16" { "b16" } else { &self.result };
        writeln!(text, ".reg .{declared} %d;\n{} {};", self.operation, operands.join(", ")).unwrap();
        text += match bits(&self.result) {
            1 => "selp.u64 %x, 1, 0, %d;\n",
            16 => ".reg .b16 %z; mov.b16 %z, 0; mov.b32 %y, {%d, %z}; cvt.u64.u32 %x, %y;\n",
            32 => "mov.b32 %y, %d; cvt.u64.u32 %x, %y;\n",
            _ => "mov.b64 %x, %d;\n",
        };
        text + "st.global.u64 [%o], %x; ret;\n}\n"
    }

    fn run(&self) -> Result<(), Failed> {
        let mut sources = SourceMap::default();
        let file = sources.add(self.operation.clone(), self.ptx());
        let env = build(&[file], None, &sources).map_err(|p| format!("{:?}\n{}", p.first(), self.ptx()))?;
        let config = Config { engine: engine(), ..Config::default() };
        let mut device = Device::new(Arc::new(env), sources, config).map_err(|stop| format!("{stop:?}"))?;
        let threads = u32::try_from(self.cases.len())?;
        let words = self.cases.iter().flat_map(|(inputs, _)| inputs.iter().flat_map(|w| w.to_le_bytes())).collect();
        let buffer = |init, len| Buffer { ty: Scalar::BYTE, init, len, at: None };
        let told = |failure| format!("{failure:?}");
        device.add_buffer("in", &buffer(Data::Hex(words), None)).map_err(told)?;
        device.add_buffer("out", &buffer(Data::Zeros, Some(8 * u64::from(threads)))).map_err(told)?;
        let argument = |name: &str| (Arg::Buffer { name: name.into(), offset: 0 }, None);
        let args = vec![argument("out"), argument("in")];
        let (grid, block) = ([1, 1, 1], [threads, 1, 1]);
        let launch = KernelLaunch { entry: None, grid, block, shared: 0, args, at: None };
        device.launch(&launch, Silent, &mut |_| ()).map_err(told)?;
        let found = device.contents("out").map(|(_, bytes)| bytes.to_vec()).unwrap_or_default();
        let (found, rest) = found.as_chunks::<8>();
        if found.len() != self.cases.len() || !rest.is_empty() {
            return Err(format!("{} results for {} cases", found.len(), self.cases.len()).into());
        }
        for ((inputs, wanted), found) in self.cases.iter().zip(found) {
            let found = u64::from_le_bytes(*found);
            if found != *wanted && !(self.result == "f64" && both_nan(found, *wanted)) {
                return Err(format!("{inputs:x?} gives {found:x}, and not {wanted:x}").into());
            }
        }
        Ok(())
    }
}

/// An f64 result may be any quiet NaN (D-nan64).
fn both_nan(found: u64, wanted: u64) -> bool {
    f64::from_bits(found).is_nan() && f64::from_bits(wanted).is_nan() && found >> 51 & 1 == 1
}

/// The size of a type in bits; 1 for a predicate.
fn bits(ty: &str) -> u32 {
    ty.trim_start_matches(char::is_alphabetic).parse().unwrap_or(1)
}

/// A trial for each operation.
pub fn trials() -> Vec<Trial> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ops/table.txt");
    let table = std::fs::read_to_string(path).expect("the table is part of the repository");
    let rows: Vec<Row> = table.lines().map(Row::read).collect();
    assert!(rows.len() >= 300, "the table has {} operations", rows.len());
    let name = |row: &Row| format!("{} {}", row.operation, row.suffix).trim_end().to_owned();
    rows.into_iter().map(|row| Trial::test(name(&row), move || row.run())).collect()
}
