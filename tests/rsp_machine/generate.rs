//! Programs with conditions, as a seed has it.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use std::fmt::Write;
use warpstep::base::FileId;
use warpstep::litmus::parse;
use warpstep::litmus::tree::Litmus;

/// What programs are generated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Two or three threads in up to two work-groups of a device, four to six operations, a condition at least.
    Device,
    /// The same on two devices with a work-group each, and with scope ALL.
    Devices,
    /// Two to four operations, scopes as they come, with compare-exchanges, with or without conditions, on one device or two.
    Small,
}

/// What operations of a program look like.
#[derive(Clone, Copy)]
struct Style {
    scopes: &'static [&'static str],
    /// Locations that are accessed anyhow.
    locations: &'static [&'static str],
    /// How likely an access of `x` is a plain one.
    plain: f64,
    exchanges: bool,
}

impl Style {
    /// Programs whose scopes are all wide, whose wide ones are remote, or with any: if all were of the last kind, nearly all would be racy.
    fn of(dice: &mut ChaCha8Rng, sort: Sort, devices: bool, message: bool) -> Self {
        let ways: [&[&str]; 3] = if devices {
            [&["ALL_N", "ALL_N", "ALL_R"], &["WG_N", "ALL_R"], &["WG_N", "WG_R", "DV_N", "DV_R", "ALL_N", "ALL_R"]]
        } else {
            [&["DV_N", "DV_N", "DV_R"], &["WG_N", "DV_R"], &["WG_N", "WG_R", "DV_N", "DV_R"]]
        };
        let small = sort == Sort::Small;
        Self {
            scopes: if small { ways[2] } else { ways[one_of(dice, &[0, 0, 1, 1, 2])] },
            locations: if message { &["y", "y", "z"] } else { &["x", "y", "y"] },
            plain: if small { 0.6 } else { 0.2 },
            exchanges: small,
        }
    }
}

/// A thread in the making.
#[derive(Default)]
struct Thread {
    lines: Vec<String>,
    open: usize,
    registers: usize,
}

fn one_of<T: Copy>(dice: &mut ChaCha8Rng, all: &[T]) -> T {
    all[dice.random_range(0..all.len())]
}

impl Thread {
    /// A new register, and the way that the rest of the thread is left to depend on it.
    fn read(&mut self, dice: &mut ChaCha8Rng, operation: &str, often: bool) {
        let register = format!("r{}", self.registers);
        self.registers += 1;
        self.lines.push(format!("{register} = {operation};"));
        if often || dice.random_bool(0.4) {
            self.lines.push(format!("if ({register}) {{"));
            self.open += 1;
        }
    }

    /// An operation of any kind. Only `x` is accessed plainly.
    fn any(&mut self, dice: &mut ChaCha8Rng, style: Style, value: u32) {
        let at = one_of(dice, style.locations);
        let plain = at == "x" && dice.random_bool(style.plain);
        let scope = one_of(dice, style.scopes);
        match dice.random_range(0..if style.exchanges { 7 } else { 6 }) {
            0..=1 if plain => self.lines.push(format!("store_na({at}, {value});")),
            0..=1 => self.lines.push(format!("store_{scope}({at}, {value});")),
            2..=3 if plain => self.read(dice, &format!("load_na({at})"), false),
            2..=3 => self.read(dice, &format!("load_{scope}({at})"), false),
            4..=5 => self.read(dice, &format!("fetch_inc_{scope}({at})"), false),
            _ => {
                let expected = dice.random_range(0..2);
                self.read(dice, &format!("compare_exchange_{scope}({at}, {expected}, {value})"), false);
            }
        }
    }

    fn text(&self) -> String {
        format!("\n  {}{}\n", self.lines.join("\n  "), "}".repeat(self.open))
    }
}

/// The threads of a program that passes a message from the first thread to the second: one writes `x` and then a flag, the other looks at
/// the flag and, if it is set, reads or writes `x`.
fn message(dice: &mut ChaCha8Rng, style: Style, threads: &mut [Thread]) {
    let scope = one_of(dice, style.scopes);
    threads[0].lines.push("store_na(x, 1);".to_owned());
    threads[0].lines.push(format!("store_{scope}(y, 2);"));
    let scope = one_of(dice, style.scopes);
    let flag = if dice.random_bool(0.7) { "load" } else { "fetch_inc" };
    threads[1].read(dice, &format!("{flag}_{scope}(y)"), true);
    if dice.random_bool(0.8) {
        threads[1].read(dice, "load_na(x)", false);
    } else {
        threads[1].lines.push("store_na(x, 3);".to_owned());
    }
}

/// The program of a seed, in the form of lists.
fn text(seed: u64, sort: Sort) -> Option<String> {
    let dice = &mut ChaCha8Rng::seed_from_u64(seed);
    let devices = sort == Sort::Devices || sort == Sort::Small && dice.random_bool(0.4);
    let count = dice.random_range(2..=3);
    let mut threads: Vec<Thread> = (0..count).map(|_| Thread::default()).collect();
    let operations = if sort == Sort::Small { dice.random_range(2..=4) } else { dice.random_range(4..=6) };
    let passes = sort != Sort::Small && dice.random_bool(0.5);
    let style = Style::of(dice, sort, devices, passes);
    let mut made = 0;
    if passes {
        message(dice, style, &mut threads);
        made = 4;
    }
    let idle: Vec<usize> = (0..count).filter(|t| threads[*t].lines.is_empty()).collect();
    let mut turns = idle.into_iter();
    while made < operations {
        let thread = turns.next().unwrap_or_else(|| dice.random_range(0..count));
        made += 1;
        threads[thread].any(dice, style, made + 3);
    }
    threads.retain(|t| !t.lines.is_empty());
    if sort != Sort::Small && threads.iter().all(|t| t.open == 0) || threads.len() < 2 {
        return None;
    }
    let mut text = format!("RSP g{seed}\n{{ x=0; y=0; z=0; }}\n");
    // Two work-groups at most: one of them has two threads, if there are three.
    let apart = one_of(dice, &[1, threads.len() - 1]);
    let bar = if devices { "||||" } else { "|||" };
    for (k, thread) in threads.iter().enumerate() {
        let bars = match k {
            0 => "",
            k if k == apart => bar,
            _ => "||",
        };
        let _ = write!(text, "{bars}{}", thread.text());
    }
    Some(text)
}

/// The program of a seed.
pub fn generated(seed: u64, sort: Sort) -> Litmus {
    let mut seeds = ChaCha8Rng::seed_from_u64(seed);
    let mut tried = seed;
    let text = loop {
        match text(tried, sort) {
            Some(text) => break text,
            None => tried = seeds.next_u64(),
        }
    };
    let (litmus, errors) = parse(FileId(0), &text);
    assert_eq!(errors, [], "{text}");
    litmus
}
