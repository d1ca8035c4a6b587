//! Video instructions after the pseudo-code of the PTX ISA, on numbers of 64 bits; it reads the instruction's own text.

/// An instruction taken apart: `vadd.u32.s32.u32.sat %d.b1, -%a.h0, %b, %c`.
pub struct Instruction {
    /// `vadd`, `vset4`
    pub name: String,
    /// Types: of the destination, where there is one, and of the sources.
    types: Vec<bool>,
    words: Vec<String>,
    /// Selectors of the destination and of two sources.
    selectors: [String; 3],
    negated: [bool; 3],
}

/// The number of bits that are held as a signed number.
fn signed(value: i64, bits: u32) -> i64 {
    (value << (64 - bits)) >> (64 - bits)
}

fn number(bits: u64, width: u32, is_signed: bool) -> i64 {
    let low = (bits & ((1 << width) - 1)).cast_signed();
    if is_signed { signed(low, width) } else { low }
}

fn clamp(value: i128, width: u32, is_signed: bool) -> i128 {
    let (low, high) = if is_signed { (-(1i128 << (width - 1)), 1i128 << (width - 1)) } else { (0, 1i128 << width) };
    value.max(low).min(high - 1)
}

/// `.b2`: 8 bits at 16.
fn place(selector: &str) -> (u32, u32) {
    let index = || selector[1..].parse::<u32>().expect("a digit");
    match selector.bytes().next() {
        None => (32, 0),
        Some(b'h') => (16, 16 * index()),
        Some(_) => (8, 8 * index()),
    }
}

fn part(word: u32, selector: &str, is_signed: bool) -> i64 {
    let (width, at) = place(selector);
    number(u64::from(word >> at), width, is_signed)
}

impl Instruction {
    pub fn read(text: &str) -> Self {
        let (head, operands) = text.split_once(' ').expect("operands");
        let mut words: Vec<String> = head.split('.').map(str::to_owned).collect();
        let name = words.remove(0);
        let types = words.iter().filter(|w| ["u32", "s32"].contains(&w.as_str())).map(|w| w == "s32").collect();
        let operands: Vec<&str> = operands.trim_end_matches(';').split(',').map(str::trim).collect();
        let selector = |i: usize| operands[i].split_once('.').map_or(String::new(), |(_, s)| s.to_owned());
        let negated = |i: usize| operands.get(i).is_some_and(|o| o.starts_with('-'));
        Self {
            name,
            types,
            words,
            selectors: [selector(0), selector(1), selector(2)],
            negated: [negated(1), negated(2), negated(3)],
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    fn compares(&self, a: i64, b: i64) -> bool {
        let holds = |word: &str| match word {
            "eq" => a == b,
            "ne" => a != b,
            "lt" => a < b,
            "le" => a <= b,
            "gt" => a > b,
            "ge" => a >= b,
            _ => false,
        };
        self.words.iter().any(|word| holds(word))
    }

    /// The primary operation, of scalar and of SIMD instructions.
    fn primary(&self, ta: i64, tb: i64) -> i128 {
        let (a, b) = (i128::from(ta), i128::from(tb));
        let by = if self.has("wrap") { tb & 0x1f } else { tb.min(32) };
        match self.name.trim_end_matches(['2', '4']) {
            "vadd" => a + b,
            "vsub" => a - b,
            "vabsdiff" => (a - b).abs(),
            "vmin" => a.min(b),
            "vmax" => a.max(b),
            "vshl" => a << by,
            "vshr" => a >> by,
            "vset" => i128::from(self.compares(ta, tb)),
            "vavrg" if a + b >= 0 => (a + b + 1) >> 1,
            "vavrg" => (a + b) >> 1,
            name => panic!("{name}"),
        }
    }

    /// The types of the destination and of the sources; the result of a comparison is unsigned.
    fn signs(&self) -> [bool; 3] {
        match self.types[..] {
            [a, b] => [false, a, b],
            [d, a, b] => [d, a, b],
            _ => panic!("{:?}", self.words),
        }
    }

    pub fn result(&self, a: u32, b: u32, c: u32) -> u32 {
        match self.name.as_str() {
            "vmad" => self.product(a, b, c),
            name if name.ends_with('2') => self.simd(a, b, c, 16),
            name if name.ends_with('4') => self.simd(a, b, c, 8),
            _ => self.scalar(a, b, c),
        }
    }

    fn scalar(&self, a: u32, b: u32, c: u32) -> u32 {
        let [d, of_a, of_b] = self.signs();
        let [dsel, asel, bsel] = &self.selectors;
        // .s34
        let tmp = signed(self.primary(part(a, asel, of_a), part(b, bsel, of_b)) as i64, 34);
        // .s33 optSaturate
        let (width, at) = place(dsel);
        let tmp = if self.has("sat") { clamp(tmp.into(), width, d) as i64 } else { signed(tmp, 33) };
        let third = number(c.into(), 32, d);
        // optSecOp
        let tmp = if self.has("add") {
            tmp + third
        } else if self.has("min") {
            tmp.min(third)
        } else if self.has("max") {
            tmp.max(third)
        } else {
            tmp
        };
        // optMerge
        if dsel.is_empty() {
            return tmp as u32;
        }
        let ones = (1u64 << width) - 1;
        (((tmp as u64 & ones) << at) | u64::from(c) & !(ones << at)) as u32
    }

    fn product(&self, a: u32, b: u32, c: u32) -> u32 {
        let [_, of_a, of_b] = self.signs();
        let [_, asel, bsel] = &self.selectors;
        let [na, nb, nc] = self.negated;
        let is_signed = of_a || of_b || na != nb || nc;
        let mut tmp = i128::from(part(a, asel, of_a)) * i128::from(part(b, bsel, of_b));
        let (mut c, mut lsb) = (c, 0);
        if self.has("po") {
            lsb = 1;
        } else if na != nb {
            (tmp, lsb) = (!tmp, 1);
        } else if nc {
            (c, lsb) = (!c, 1);
        }
        tmp += i128::from(number(c.into(), 32, is_signed)) + lsb;
        for (word, by) in [("shr7", 7), ("shr15", 15)] {
            if self.has(word) {
                tmp >>= by;
            }
        }
        (if self.has("sat") { clamp(tmp, 32, is_signed) } else { tmp }) as u32
    }

    fn simd(&self, a: u32, b: u32, c: u32, width: u32) -> u32 {
        let [d, of_a, of_b] = self.signs();
        let lanes = (32 / width) as usize;
        let both = u64::from(b) << 32 | u64::from(a);
        // `.b7654`: the last digit is the lowest lane.
        let lane = |selector: &str, default: &str, i: usize| -> u32 {
            let digits = if selector.is_empty() { default } else { &selector[1..] };
            u32::from(digits.as_bytes()[lanes - 1 - i] - b'0')
        };
        let defaults = if lanes == 2 { ["10", "10", "32"] } else { ["3210", "3210", "7654"] };
        let [mask, asel, bsel] = &self.selectors;
        let (mut sum, mut merged) = (i64::from(c), 0);
        for i in 0..lanes {
            let va = number(both >> (width * lane(asel, defaults[1], i)), width, of_a);
            let vb = number(both >> (width * lane(bsel, defaults[2], i)), width, of_b);
            let mut t = self.primary(va, vb);
            if self.has("sat") {
                t = clamp(t, width, d);
            }
            let digits = if mask.is_empty() { defaults[0] } else { &mask[1..] };
            let counts = digits.bytes().any(|digit| usize::from(digit - b'0') == i);
            let ones = (1u64 << width) - 1;
            let at = width * i as u32;
            sum += if counts { t as i64 } else { 0 };
            merged |= if counts { (t as u64 & ones) << at } else { u64::from(c) & (ones << at) };
        }
        if self.has("add") { sum as u32 } else { merged as u32 }
    }
}
