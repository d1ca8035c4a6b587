//! Tables of expected verdicts: comma-separated values whose first line names the columns.
//!
//! `path,model,property,expected`, perhaps with `progress` and `bound`; or `path,progress,terminates`, which is liveness under both
//! models of PTX. Other columns are for people.

use super::decided::Property;
use crate::base::{FileId, Span, complaints, counted};
use crate::explore::Progress;

/// An expected verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The test, as the table names it.
    pub path: String,
    /// The model.
    pub model: String,
    /// What is asked.
    pub property: Property,
    /// Who is promised progress.
    pub progress: Progress,
    /// How often loops are gone through; the usual bound where the table does not say.
    pub bound: Option<u32>,
    /// Whether the property holds.
    pub pass: bool,
    /// The place of its line.
    pub span: Span,
}

/// A complaint about a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableError {
    /// What is wrong.
    pub kind: TableErrorKind,
    /// The file.
    pub file: FileId,
    /// Where.
    pub span: Span,
}

complaints! {
    /// The kinds of complaints; `here` is the text of the place, fit for a message.
    #[derive(Clone, PartialEq, Eq, Debug)]
    #[expect(missing_docs, reason = "fields are named for what the message prints")]
    pub enum TableErrorKind(here: &str) {
        /// The file has 4 GiB or more.
        TooLarge => "too-large" ("the table has 4 GiB or more") ("");
        /// The first line lacks a column.
        NoColumn { name: &'static str } =>
            "no-column" ("the table has no column `{name}`") ("these are its columns")
            ("the first line names the columns: path,model,property,expected, or path,progress,terminates");
        /// A line with more or fewer fields than there are columns.
        Fields { wanted: usize, found: usize } =>
            "fields" ("the line has {}, the table {}", counted(*found as u64, "field"), counted(*wanted as u64, "column")) ("here")
            ("a field with a comma stands in quotes");
        /// A field with a word that its column does not have.
        Word { column: &'static str, known: String } => "unknown-word" ("`{here}` is no {column}") ("here") ("one of {known}");
        /// A field that begins with a quote and does not end with one.
        OpenQuote => "open-quote" ("a quoted field does not end") ("begins here");
    }
}

/// A field and its place, quotes left out.
type Field<'t> = (&'t str, Span);

/// Reads a table; what could be read is returned with all complaints.
#[must_use]
pub fn table(file: FileId, text: &str) -> (Vec<Row>, Vec<TableError>) {
    let (mut rows, mut errors) = (Vec::new(), Vec::new());
    let mut complain = |kind, span| errors.push(TableError { kind, file, span });
    if u32::try_from(text.len()).is_err() {
        complain(TableErrorKind::TooLarge, Span::default());
        return (rows, errors);
    }
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches(['\n', '\r']))
    });
    let mut lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let (at, heading) = lines.next().unwrap_or_default();
    let names = match fields(heading, at) {
        Ok(names) => names,
        Err(span) => {
            complain(TableErrorKind::OpenQuote, span);
            return (rows, errors);
        }
    };
    let column = |name: &str| names.iter().position(|(known, _)| known.trim_start_matches('\u{feff}') == name);
    let terminates = column("terminates").is_some();
    let wanted: &[&'static str] =
        if terminates { &["path", "progress"] } else { &["path", "model", "property", "expected"] };
    for name in wanted.iter().filter(|name| column(name).is_none()) {
        complain(TableErrorKind::NoColumn { name }, span(at, heading.len()));
    }
    if !wanted.iter().all(|name| column(name).is_some()) {
        return (rows, errors);
    }
    for (at, line) in lines {
        let here = span(at, line.len());
        let cells = match fields(line, at) {
            Ok(cells) if cells.len() == names.len() => cells,
            Ok(cells) => {
                complain(TableErrorKind::Fields { wanted: names.len(), found: cells.len() }, here);
                continue;
            }
            Err(span) => {
                complain(TableErrorKind::OpenQuote, span);
                continue;
            }
        };
        let cell = |name: &str| column(name).map_or(("", here), |k| cells[k]);
        match row(&cell, terminates, here) {
            Ok(row) if terminates => {
                for model in ["ptx-v6.0", "ptx-v7.5"] {
                    rows.push(Row { model: model.to_owned(), ..row.clone() });
                }
            }
            Ok(row) => rows.push(row),
            Err((kind, span)) => complain(kind, span),
        }
    }
    (rows, errors)
}

/// A line as a row; of a table of progress, without a model.
fn row<'t>(cell: &dyn Fn(&str) -> Field<'t>, terminates: bool, here: Span) -> Result<Row, (TableErrorKind, Span)> {
    let word = |column, known: &[&str], span| (TableErrorKind::Word { column, known: known.join(", ") }, span);
    let names = |all: &[Progress]| all.iter().map(|p| p.name()).collect::<Vec<_>>();
    let (text, span) = cell("progress");
    let progress = match text {
        "" => Progress::Fair,
        text => Progress::named(text).ok_or_else(|| word("progress model", &names(Progress::ALL), span))?,
    };
    let (text, span) = cell("property");
    let property = match terminates {
        true => Property::Liveness,
        false => {
            let known: Vec<&str> = Property::ALL.iter().map(|p| p.name()).collect();
            Property::named(text).ok_or_else(|| word("property", &known, span))?
        }
    };
    let (text, span) = cell(if terminates { "terminates" } else { "expected" });
    let pass = match text {
        "pass" => true,
        "fail" => false,
        _ => return Err(word("verdict", &["pass", "fail"], span)),
    };
    let (text, span) = cell("bound");
    let bound = match text {
        "" => None,
        text => {
            let number = text.parse::<u32>().ok().filter(|n| (1..=1000).contains(n));
            Some(number.ok_or_else(|| word("bound", &["the numbers from 1 to 1000"], span))?)
        }
    };
    Ok(Row {
        path: cell("path").0.to_owned(),
        model: cell("model").0.to_owned(),
        property,
        progress,
        bound,
        pass,
        span: here,
    })
}

fn span(start: usize, len: usize) -> Span {
    let narrow = |n| u32::try_from(n).unwrap_or(u32::MAX);
    Span::new(narrow(start), narrow(start + len))
}

/// The fields of a line that begins at a place of the text; the place of a quote that is not closed.
fn fields(line: &str, start: usize) -> Result<Vec<Field<'_>>, Span> {
    let (mut all, mut at) = (Vec::new(), 0);
    loop {
        let rest = &line[at..];
        let (text, from, end) = match rest.strip_prefix('"') {
            Some(inner) => {
                let len = inner.find("\",").or_else(|| inner.ends_with('"').then(|| inner.len() - 1));
                let len = len.ok_or_else(|| span(start + at, rest.len()))?;
                (&inner[..len], at + 1, at + len + 2)
            }
            None => {
                let len = rest.find(',').unwrap_or(rest.len());
                (&rest[..len], at, at + len)
            }
        };
        all.push((text, span(start + from, text.len())));
        if end >= line.len() {
            return Ok(all);
        }
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Row>, Vec<(&'static str, String)>) {
        let (rows, errors) = table(FileId(0), text);
        let told = |e: TableError| (e.kind.wording(e.span.of(text)).code, e.span.of(text).to_owned());
        (rows, errors.into_iter().map(told).collect())
    }

    #[test]
    fn rows_have_what_their_line_says() {
        let text = "about,path,model,property,expected,bound,progress\r\n\"a, b\",x.litmus,vulkan,liveness,fail,3,obe\n\n,y,m.cat,drf,pass,,\n";
        let (rows, errors) = read(text);
        assert_eq!(errors, []);
        let told: Vec<_> =
            rows.iter().map(|r| (&*r.path, &*r.model, r.property, r.progress, r.bound, r.pass)).collect();
        let first = ("x.litmus", "vulkan", Property::Liveness, Progress::Obe, Some(3), false);
        assert_eq!(told, [first, ("y", "m.cat", Property::Drf, Progress::Fair, None, true)]);
        assert_eq!(rows[1].span.of(text), ",y,m.cat,drf,pass,,");
    }

    #[test]
    fn a_table_of_progress_is_about_both_models_of_ptx() {
        let (rows, errors) = read("path,progress,terminates\nx,weak_fair,pass\nx,lobe,fail\n");
        assert_eq!((rows.len(), errors.len()), (4, 0));
        assert!(rows.iter().all(|row| row.property == Property::Liveness && row.path == "x"));
        assert_eq!([&*rows[0].model, &*rows[1].model], ["ptx-v6.0", "ptx-v7.5"]);
        assert_eq!((rows[3].progress, rows[3].pass), (Progress::Lobe, false));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |text: &str| read(text).1;
        assert_eq!(told(""), ["path", "model", "property", "expected"].map(|_| ("no-column", String::new())));
        assert_eq!(told("path,terminates\n"), [("no-column", "path,terminates".to_owned())]);
        let head = "path,model,property,expected,bound\n";
        for (line, code, place) in [
            ("x,m,safety,pass", "fields", "x,m,safety,pass"),
            ("x,m,safety,yes,", "unknown-word", "yes"),
            ("x,m,life,pass,", "unknown-word", "life"),
            ("x,m,safety,pass,0", "unknown-word", "0"),
            ("x,\"m,safety,pass,", "open-quote", "\"m,safety,pass,"),
        ] {
            let (rows, errors) = read(&format!("{head}{line}\ny,m,safety,pass,1\n"));
            assert_eq!((rows.len(), errors), (1, vec![(code, place.to_owned())]), "{line}");
        }
    }
}
