//! Litmus tests by chance in which threads hand data on: weak accesses behind flags, fences, atomic operations and barriers, of which
//! enough is right that many have no race.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The test of a number.
pub fn test(number: u64) -> String {
    let mut maker = Maker { rng: ChaCha8Rng::seed_from_u64(number ^ 0x6861_6e64) };
    maker.test(number)
}

struct Maker {
    rng: ChaCha8Rng,
}

#[derive(Default)]
struct Column {
    rows: Vec<String>,
    registers: usize,
    labels: Vec<String>,
}

impl Column {
    fn register(&mut self) -> String {
        self.registers += 1;
        format!("r{}", self.registers - 1)
    }
}

impl Maker {
    fn one_in(&mut self, count: u32) -> bool {
        self.rng.random_range(0..count) == 0
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.rng.random_range(0..list.len())]
    }

    fn scope(&mut self) -> &'static str {
        self.pick(&["cta", "gpu", "gpu", "gpu", "sys"])
    }

    fn test(&mut self, number: u64) -> String {
        let shape = self.rng.random_range(0..10);
        let threads = if shape >= 5 { 2 } else { [2, 2, 2, 3, 3, 4][self.rng.random_range(0..6)] };
        let mut columns: Vec<Column> = (0..threads).map(|_| Column::default()).collect();
        for (k, column) in columns.iter_mut().enumerate() {
            match shape {
                0 | 1 => self.hand_on(column, k, threads),
                2 => self.dekker(column, k),
                3 => self.meet(column, k),
                5 => self.fence_first(column, k),
                6 => self.own_flag(column, k),
                7 => self.forgotten(column, k),
                8 => self.late_fence(column, k),
                9 => self.fenced(column, k),
                _ => self.mixed(column, k, threads),
            }
        }
        let apart = self.one_in(2);
        let heads: Vec<String> =
            (0..threads).map(|k| format!("P{k}@cta {},gpu 0", u32::from(apart && k % 2 == 1))).collect();
        let mut text = format!("PTX handoff-{number}\n{{ x=0; f=0; g=0; h=0; }}\n{};\n", heads.join(" | "));
        for row in 0..columns.iter().map(|c| c.rows.len()).max().unwrap_or(0) {
            let cells: Vec<&str> = columns.iter().map(|c| c.rows.get(row).map_or("", String::as_str)).collect();
            text.push_str(&format!("{};\n", cells.join(" | ")));
        }
        text.push_str("exists (x == 0)\n");
        text
    }

    /// An access of the data: weak, mostly.
    fn data(&mut self, column: &mut Column) {
        let how = if self.one_in(6) { format!("relaxed.{}", self.scope()) } else { "weak".to_owned() };
        if self.one_in(2) {
            let register = column.register();
            column.rows.push(format!("ld.{how} {register}, x"));
        } else {
            column.rows.push(format!("st.{how} x, {}", self.rng.random_range(1..3)));
        }
    }

    fn fence(&mut self, column: &mut Column, orders: &[&'static str]) {
        let (order, scope) = (self.pick(orders), self.pick(&["cta", "gpu", "gpu"]));
        column.rows.push(format!("fence.{order}.{scope}"));
    }

    /// What came before is handed on by a flag.
    fn release(&mut self, column: &mut Column, flag: &str) {
        let scope = self.scope();
        let fenced = self.one_in(2);
        if fenced {
            self.fence(column, &["acq_rel", "acq_rel", "sc"]);
        }
        let order = if fenced || self.one_in(6) { "relaxed" } else { "release" };
        if self.one_in(3) {
            let (register, op) = (column.register(), self.pick(&["add", "exch"]));
            column.rows.push(format!("atom.{order}.{scope}.{op} {register}, {flag}, 1"));
        } else {
            column.rows.push(format!("st.{order}.{scope} {flag}, 1"));
        }
    }

    /// Who finds a flag goes on to what is behind a label.
    fn acquire(&mut self, column: &mut Column, flag: &str, label: String) {
        let scope = self.scope();
        let fenced = self.one_in(2);
        let order = if fenced || self.one_in(6) { "relaxed" } else { "acquire" };
        let register = column.register();
        if self.one_in(4) {
            let op = self.pick(&["add", "exch"]);
            column.rows.push(format!("atom.{order}.{scope}.{op} {register}, {flag}, 1"));
        } else {
            column.rows.push(format!("ld.{order}.{scope} {register}, {flag}"));
        }
        if !self.one_in(6) {
            column.rows.push(format!("bne {register}, 1, {label}"));
            column.labels.push(label);
        }
        if fenced {
            self.fence(column, &["acq_rel", "acq_rel", "sc"]);
        }
    }

    fn end(column: &mut Column) {
        let labels = std::mem::take(&mut column.labels);
        column.rows.extend(labels.into_iter().map(|label| format!("{label}:")));
    }

    /// The first thread has the data, the last one gets it; those between hand it on.
    fn hand_on(&mut self, column: &mut Column, k: usize, threads: usize) {
        let flags = ["f", "g", "f"];
        if k > 0 {
            self.acquire(column, flags[(k - 1) % 3], format!("LC{k}0"));
            if k + 1 == threads || self.one_in(2) {
                self.data(column);
            }
        } else {
            self.data(column);
        }
        if k + 1 < threads {
            self.release(column, flags[k % 3]);
        }
        Self::end(column);
    }

    /// Whoever raises a flag and finds the other's down has the data.
    fn dekker(&mut self, column: &mut Column, k: usize) {
        let flags = if k.is_multiple_of(2) { ["f", "g"] } else { ["g", "f"] };
        let scope = self.scope();
        column.rows.push(format!("st.relaxed.{scope} {}, 1", flags[0]));
        if !self.one_in(5) {
            self.fence(column, &["sc", "sc", "sc", "acq_rel"]);
        }
        let (register, scope) = (column.register(), self.scope());
        column.rows.push(format!("ld.relaxed.{scope} {register}, {}", flags[1]));
        let label = format!("LC{k}0");
        column.rows.push(format!("bne {register}, 0, {label}"));
        column.labels.push(label);
        self.data(column);
        Self::end(column);
    }

    /// A barrier, or none.
    fn meet(&mut self, column: &mut Column, k: usize) {
        if k == 0 || self.one_in(3) {
            self.data(column);
        }
        if !self.one_in(6) {
            column.rows.push(if self.one_in(4) { "bar.cta.arrive 0" } else { "bar.cta.sync 0" }.to_owned());
        }
        if k > 0 {
            self.data(column);
        }
    }

    /// One thread has the data before its fence, and tells whether the other's fence is still to come: nothing but the order of fences orders
    /// the data.
    fn fence_first(&mut self, column: &mut Column, k: usize) {
        let label = format!("LC{k}0");
        let near = |maker: &mut Self| if maker.one_in(6) { "cta" } else { "gpu" };
        if k == 0 {
            self.data(column);
        } else {
            column.rows.push(format!("st.relaxed.{} g, 1", near(self)));
        }
        column.rows.push(format!("fence.{}.{}", self.pick(&["sc", "sc", "sc", "acq_rel"]), near(self)));
        let (register, from, told) = (column.register(), ["g", "h"][k], k);
        column.rows.push(format!("ld.relaxed.{} {register}, {from}", near(self)));
        column.rows.push(format!("bne {register}, {told}, {label}"));
        column.labels.push(label);
        if k == 0 {
            column.rows.push(format!("st.relaxed.{} h, 1", near(self)));
        } else {
            self.data(column);
        }
        Self::end(column);
    }

    /// The data is its own flag: what is observed comes before what the reader does there.
    fn own_flag(&mut self, column: &mut Column, k: usize) {
        let scope = self.scope();
        if k == 0 {
            return column.rows.push(format!("st.relaxed.{scope} x, 1"));
        }
        let register = column.register();
        column.rows.push(format!("ld.relaxed.{scope} {register}, x"));
        column.rows.push(format!("bne {register}, 1, LC{k}0"));
        column.labels.push(format!("LC{k}0"));
        self.data(column);
        Self::end(column);
    }

    /// Two atomic operations, of which nothing tells afterwards which was first, and data behind a flag that orders nothing.
    fn forgotten(&mut self, column: &mut Column, k: usize) {
        if k == 0 {
            self.data(column);
            let scope = self.scope();
            column.rows.push(format!("red.release.{scope}.add f, 1"));
            return column.rows.push(format!("st.relaxed.{scope} g, 1"));
        }
        let (register, scope) = (column.register(), self.scope());
        column.rows.push(format!("atom.acquire.{scope}.add {register}, f, 1"));
        column.rows.push(format!("ld.relaxed.{scope} {register}, g"));
        column.rows.push(format!("bne {register}, 1, LC{k}0"));
        column.labels.push(format!("LC{k}0"));
        self.data(column);
        Self::end(column);
    }

    /// The fence of a thread may come after that of another one that has seen what it did before.
    fn late_fence(&mut self, column: &mut Column, k: usize) {
        let near = |maker: &mut Self| if maker.one_in(8) { "cta" } else { "gpu" };
        if k == 0 {
            self.data(column);
            column.rows.push("st.relaxed.gpu f, 1".to_owned());
            column.rows.push(format!("fence.sc.{}", near(self)));
            return column.rows.push("st.relaxed.gpu g, 1".to_owned());
        }
        let (one, two) = (column.register(), column.register());
        column.rows.push(format!("ld.relaxed.gpu {one}, f"));
        column.rows.push(format!("fence.sc.{}", near(self)));
        column.rows.push(format!("ld.relaxed.gpu {two}, g"));
        column.rows.push(format!("bne {one}, 1, LC{k}0"));
        column.rows.push(format!("bne {two}, 1, LC{k}0"));
        column.labels.push(format!("LC{k}0"));
        self.data(column);
        Self::end(column);
    }

    /// Message passing that lacks nothing, perhaps, but the scope of a fence.
    fn fenced(&mut self, column: &mut Column, k: usize) {
        let fence = format!("fence.acq_rel.{}", self.pick(&["cta", "gpu"]));
        if k == 0 {
            self.data(column);
            column.rows.push(fence);
            return column.rows.push("st.relaxed.gpu f, 1".to_owned());
        }
        let register = column.register();
        column.rows.push(format!("ld.relaxed.gpu {register}, f"));
        column.rows.push(format!("bne {register}, 1, LC{k}0"));
        column.labels.push(format!("LC{k}0"));
        column.rows.push(fence);
        self.data(column);
        Self::end(column);
    }

    fn mixed(&mut self, column: &mut Column, k: usize, threads: usize) {
        if self.one_in(2) {
            return self.hand_on(column, k, threads);
        }
        let flag = self.pick(&["f", "g"]);
        if self.one_in(2) {
            self.data(column);
            self.fence(column, &["acq_rel", "sc"]);
            let (register, order, scope) = (column.register(), self.pick(&["relaxed", "acq_rel"]), self.scope());
            column.rows.push(format!("atom.{order}.{scope}.cas.success {register}, {flag}, 0, 1"));
        } else {
            self.acquire(column, flag, format!("LC{k}0"));
            self.data(column);
            Self::end(column);
        }
    }
}
