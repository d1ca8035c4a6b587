//! Litmus tests by chance: a few threads that access a few locations in all the ways of their language.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::fmt::Write;

/// What tests use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// PTX without proxies and aliases: what its version 6.0 has, and the machine.
    Ptx,
    /// All of PTX.
    Proxies,
    /// Vulkan.
    Vulkan,
    /// Vulkan, where most of what is stored, or done at all, depends on what was read (D-thin-air).
    Circles,
}

impl Family {
    /// What tests for a model use.
    pub fn of(model: &str) -> Self {
        match model {
            "ptx-v6.0" => Self::Ptx,
            "ptx-v7.5" => Self::Proxies,
            _ => Self::Vulkan,
        }
    }

    fn is_vulkan(self) -> bool {
        matches!(self, Self::Vulkan | Self::Circles)
    }
}

/// The test of a number. What it looks at are all registers that were read into, and all locations.
pub fn test(family: Family, number: u64) -> String {
    let rng = ChaCha8Rng::seed_from_u64(number);
    let mut made = Maker { rng, family, init: String::new(), aliases: Vec::new(), locations: 0, asked: Vec::new() };
    made.test(number)
}

struct Maker {
    rng: ChaCha8Rng,
    family: Family,
    init: String,
    /// Other addresses: name and proxy.
    aliases: Vec<(String, &'static str)>,
    locations: usize,
    asked: Vec<String>,
}

/// A thread under way.
struct Column {
    number: usize,
    rows: Vec<String>,
    /// Registers that were read into.
    read: Vec<String>,
    pointers: usize,
    labels: usize,
}

const NAMES: [&str; 3] = ["x", "y", "z"];

impl Maker {
    fn one_in(&mut self, count: u32) -> bool {
        self.rng.random_range(0..count) == 0
    }

    fn pick<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.rng.random_range(0..list.len())]
    }

    fn test(&mut self, number: u64) -> String {
        let threads = [2, 2, 2, 3, 3, 4][self.rng.random_range(0..6)];
        self.locations = [1, 2, 2, 2, 3][self.rng.random_range(0..5)];
        for name in &NAMES[..self.locations] {
            let value = u32::from(self.one_in(8));
            let _ = write!(self.init, "{name}={value}; ");
        }
        self.alias();
        // So many instructions in all that most tests have thousands of candidates at most.
        let most = [4, 3, 2][threads - 2];
        let meet = self.one_in(if self.family == Family::Circles { 3 } else { 5 });
        let columns: Vec<Vec<String>> = (0..threads).map(|k| self.column(k, most, meet)).collect();
        let heads: Vec<String> = (0..threads).map(|k| format!("P{k}@{}", self.place())).collect();
        let mut text = format!("{}\n{{ {}}}\n", self.title(number), self.init);
        if self.family == Family::Vulkan && self.one_in(8) {
            let _ = writeln!(text, "{{ ssw 0 1; }}");
        }
        let row = |cells: &[&str]| format!("{};\n", cells.join(" | "));
        text.push_str(&row(&heads.iter().map(String::as_str).collect::<Vec<_>>()));
        for k in 0..columns.iter().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<&str> = columns.iter().map(|c| c.get(k).map_or("", String::as_str)).collect();
            text.push_str(&row(&cells));
        }
        let names = NAMES[..self.locations].iter().map(|name| (*name).to_owned());
        let asked: Vec<String> = self.asked.iter().cloned().chain(names).collect();
        let _ = write!(text, "locations [{}]\nexists 0 == 0\n", asked.join("; "));
        text
    }

    fn title(&self, number: u64) -> String {
        format!("{} generated-{number}", if self.family.is_vulkan() { "VULKAN" } else { "PTX" })
    }

    /// Most threads are together, some are apart on each level.
    fn place(&mut self) -> String {
        let [inner, middle, outer] = [3, 3, 6].map(|count| u32::from(self.one_in(count)));
        match self.family {
            Family::Vulkan => format!("sg {inner},wg {middle},qf {outer}"),
            Family::Circles => "sg 0,wg 0,qf 0".to_owned(),
            _ => format!("cta {middle},gpu {outer}"),
        }
    }

    fn alias(&mut self) {
        if self.family == Family::Ptx || !self.one_in(3) {
            return;
        }
        let target = NAMES[self.rng.random_range(0..self.locations)];
        if self.family.is_vulkan() {
            let _ = write!(self.init, "u aliases {target}; ");
            self.aliases.push(("u".to_owned(), "generic"));
            return;
        }
        let proxy = self.pick(&["generic", "constant", "texture", "surface"]);
        let _ = write!(self.init, "u @ {proxy} aliases {target}; ");
        self.aliases.push(("u".to_owned(), proxy));
    }

    fn column(&mut self, number: usize, most: usize, meet: bool) -> Vec<String> {
        let mut column = Column { number, rows: Vec::new(), read: Vec::new(), pointers: 0, labels: 0 };
        let count = self.rng.random_range(1..=most);
        let barrier = self.rng.random_range(0..count);
        let branches = if self.family == Family::Circles { 2 } else { 6 };
        let mut ends: Vec<(usize, String)> = Vec::new();
        for k in 0..count {
            if meet && k == barrier && !self.one_in(4) {
                let row = self.barrier();
                column.rows.push(row);
            }
            if let Some(last) = column.read.last().cloned().filter(|_| k + 1 < count && self.one_in(branches)) {
                let label = format!("LC{number}{}", column.labels);
                column.labels += 1;
                let (test, value) = (self.pick(&["beq", "bne"]), self.rng.random_range(0..2));
                column.rows.push(format!("{test} {last}, {value}, {label}"));
                let over = self.rng.random_range(1..count - k);
                ends.push((k + over, label));
            }
            self.instruction(&mut column);
            let here: Vec<String> = ends.iter().filter(|(at, _)| *at == k).map(|(_, l)| format!("{l}:")).collect();
            column.rows.extend(here);
            ends.retain(|(at, _)| *at != k);
        }
        column.rows.extend(ends.into_iter().map(|(_, label)| format!("{label}:")));
        self.asked.extend(column.read.iter().map(|register| format!("P{number}:{register}")));
        column.rows
    }

    /// What is stored: mostly a number, at times what was read.
    fn value(&mut self, column: &Column) -> String {
        match column.read.last() {
            Some(last) if self.family == Family::Circles && !self.one_in(5) || self.one_in(3) => last.clone(),
            _ => self.rng.random_range(1..3).to_string(),
        }
    }

    /// Where an access goes: the name and its proxy.
    fn at(&mut self, column: &mut Column) -> (String, &'static str) {
        if !self.aliases.is_empty() && self.one_in(3) {
            return self.aliases[0].clone();
        }
        let name = NAMES[self.rng.random_range(0..self.locations)];
        match column.read.last().cloned() {
            // An address that depends on a read, though not its value.
            Some(last) if self.one_in(8) => {
                let (pointer, nothing) = (format!("a{}", column.pointers), format!("n{}", column.pointers));
                column.pointers += 1;
                let _ = write!(self.init, "P{}:{pointer}=&{name}; ", column.number);
                column.rows.push(format!("sub {nothing}, {last}, {last}"));
                column.rows.push(format!("add {pointer}, {pointer}, {nothing}"));
                (pointer, "generic")
            }
            _ => (name.to_owned(), "generic"),
        }
    }

    fn instruction(&mut self, column: &mut Column) {
        match self.family {
            Family::Vulkan => return self.vulkan(column),
            Family::Circles => return self.circle(column),
            Family::Ptx | Family::Proxies => {}
        }
        let kind = self.rng.random_range(0..20);
        if kind >= 17 {
            let fence = self.fence();
            return column.rows.push(fence);
        }
        let (at, proxy) = self.at(column);
        let value = self.value(column);
        let scope = self.pick(&["cta", "gpu", "gpu", "sys"]);
        let register = format!("r{}", column.read.len());
        match kind {
            0..=6 => {
                let name = match proxy {
                    "texture" => "tld",
                    "surface" => "suld",
                    "constant" => "cold",
                    _ => "ld",
                };
                let how = self.pick(&["weak", "relaxed", "acquire"]);
                let how = if how == "weak" { how.to_owned() } else { format!("{how}.{scope}") };
                column.rows.push(format!("{name}.{how} {register}, {at}"));
                column.read.push(register);
            }
            7..=13 => {
                let name = if proxy == "surface" { "sust" } else { "st" };
                let how = self.pick(&["weak", "relaxed", "release"]);
                let how = if how == "weak" { how.to_owned() } else { format!("{how}.{scope}") };
                column.rows.push(format!("{name}.{how} {at}, {value}"));
            }
            _ => {
                let space = if proxy == "surface" { "su" } else { "" };
                let order = self.pick(&["relaxed", "acquire", "release", "acq_rel"]);
                let op = self.pick(&["add", "exch", "exch", "cas", "cas.success", "red"]);
                if op == "red" {
                    return column.rows.push(format!("{space}red.{order}.{scope}.add {at}, {value}"));
                }
                let expected = if op.starts_with("cas") { ", 2" } else { "" };
                let value = if op.starts_with("cas") { self.rng.random_range(0..2).to_string() } else { value };
                column.rows.push(format!("{space}atom.{order}.{scope}.{op} {register}, {at}, {value}{expected}"));
                column.read.push(register);
            }
        }
    }

    fn fence(&mut self) -> String {
        if self.family == Family::Proxies && !self.aliases.is_empty() && self.one_in(2) {
            return format!("fence.proxy.{}", self.pick(&["alias", "generic", "constant", "texture", "surface"]));
        }
        format!("fence.{}.{}", self.pick(&["acq_rel", "sc", "sc"]), self.pick(&["cta", "gpu", "sys"]))
    }

    fn barrier(&mut self) -> String {
        if self.family == Family::Circles {
            return format!("cbar.wg 0, 0, {}", self.pick(&["1", "2", "2", "3"]));
        }
        if self.family == Family::Vulkan {
            let about = self.about("acq_rel");
            let quorum = self.pick(&["0", "0, 0", "0, 0, 2"]);
            return match self.one_in(2) {
                true => format!("cbar.acq_rel.{}{about} {quorum}", self.pick(&["sg", "wg", "dv"])),
                false => format!("cbar.wg {quorum}"),
            };
        }
        let how = self.pick(&["sync", "sync", "sync", "arrive"]);
        format!("bar.cta.{how} 0{}", self.pick(&["", ", 0", ", 0, 2", ", 0, 2"]))
    }

    /// What an order of Vulkan is about.
    fn about(&mut self, order: &str) -> String {
        let mut all = self.pick(&[".semsc0", ".semsc0", ".semsc1", ".semsc0.semsc1"]).to_owned();
        if order != "acq" && self.one_in(2) {
            all.push_str(".semav");
        }
        if order != "rel" && self.one_in(2) {
            all.push_str(".semvis");
        }
        all
    }

    /// The qualifiers of an atomic access, with an order or without.
    fn atomic(&mut self, orders: &[&str], class: &str) -> String {
        let scope = self.pick(&["sg", "wg", "qf", "dv", "dv"]);
        if self.one_in(2) {
            return format!("atom.{scope}.{class}");
        }
        let order = self.pick(orders);
        let about = self.about(order);
        format!("atom.{order}.{scope}.{class}{about}")
    }

    fn vulkan(&mut self, column: &mut Column) {
        let kind = self.rng.random_range(0..20);
        match kind {
            16..=18 => {
                let order = self.pick(&["acq", "rel", "acq_rel"]);
                let (about, scope) = (self.about(order), self.pick(&["sg", "wg", "qf", "dv"]));
                return column.rows.push(format!("membar.{order}.{scope}{about}"));
            }
            19 => {
                let row = self.pick(&["avdevice", "visdevice"]).to_owned();
                return column.rows.push(row);
            }
            _ => {}
        }
        let (at, _) = self.at(column);
        let value = self.value(column);
        // Each location has its class, but for a few accesses.
        let class = if (at == "y") == self.one_in(12) { "sc0" } else { "sc1" };
        let class = if at == "y" {
            class
        } else if class == "sc0" {
            "sc1"
        } else {
            "sc0"
        };
        let register = format!("r{}", column.read.len());
        let (coherent, orders) = if kind < 7 { ("vis", ["acq"]) } else { ("av", ["rel"]) };
        let plain = match self.rng.random_range(0..6) {
            0 => class.to_owned(),
            1 => format!("nonpriv.{class}"),
            2 => format!("{coherent}.{}.{class}", self.pick(&["sg", "wg", "qf", "dv", "dv"])),
            _ => self.atomic(&orders, class),
        };
        match kind {
            0..=6 => {
                column.rows.push(format!("ld.{plain} {register}, {at}"));
                column.read.push(register);
            }
            7..=13 => column.rows.push(format!("st.{plain} {at}, {value}")),
            _ => {
                // The order of words: the operation stands between class and semantics.
                let access = self.atomic(&["acq", "rel", "acq_rel"], class);
                let op = self.pick(&["", ".add", ".cas"]);
                let expected = if op == ".cas" { ", 2" } else { "" };
                let value = if op == ".cas" { self.rng.random_range(0..2).to_string() } else { value };
                column.rows.push(format!("rmw.{access}{op} {register}, {at}, {value}{expected}"));
                column.read.push(register);
            }
        }
    }

    /// A load, a store or an exchange of those that order nothing; mostly from one location to the next.
    fn circle(&mut self, column: &mut Column) {
        let register = format!("r{}", column.read.len());
        let kind = if column.read.is_empty() { self.rng.random_range(4..10) } else { self.rng.random_range(0..9) };
        let next = column.number + usize::from(kind < 4 || kind == 4 && !column.read.is_empty());
        let at = match self.one_in(4) {
            true => self.at(column).0,
            false => NAMES[next % self.locations].to_owned(),
        };
        let value = self.value(column);
        match kind {
            0..=3 => column.rows.push(format!("st.atom.dv.sc0 {at}, {value}")),
            // What was read, and one more or less.
            4 if !column.read.is_empty() => {
                let (next, last) = (format!("v{}", column.rows.len()), column.read[column.read.len() - 1].clone());
                column.rows.push(format!("{} {next}, {last}, 1", self.pick(&["add", "sub"])));
                column.rows.push(format!("st.atom.dv.sc0 {at}, {next}"));
            }
            4..=7 => {
                column.rows.push(format!("ld.atom.dv.sc0 {register}, {at}"));
                column.read.push(register);
            }
            8 => {
                let expected = self.rng.random_range(0..3);
                column.rows.push(format!("rmw.atom.dv.sc0.cas {register}, {at}, {expected}, {value}"));
                column.read.push(register);
            }
            _ => {
                column.rows.push(format!("rmw.atom.dv.sc0{} {register}, {at}, {value}", self.pick(&["", ".add"])));
                column.read.push(register);
            }
        }
    }
}
