//! Precedence, names, groups, files and complaints.

use super::{
    BASES, BUILTIN, CatError, KEYWORDS, Names, Sort, StatementKind, builtin, compile, compile_with, parse, source,
};
use crate::axiom::model::{Claim, Model, Node, NodeId, Role};
use crate::base::{FileId, Span};
use std::fmt::Write;

fn files(all: &[(&str, &str)], name: &str) -> Result<(FileId, String), String> {
    let found = all.iter().position(|(file, _)| *file == name).ok_or("no such file")?;
    Ok((FileId(u32::try_from(found).unwrap() + 1), all[found].1.to_owned()))
}

fn made(text: &str) -> Result<Model, Vec<CatError>> {
    compile("m", FileId(0), text, &mut |_| Err("no files here".to_owned()))
}

fn model(text: &str) -> Model {
    made(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// A node with all parentheses.
fn shown(model: &Model, node: NodeId) -> String {
    let show = |node: NodeId| shown(model, node);
    match &model.nodes[node.index()] {
        Node::BaseSet(k) => model.sets[*k as usize].clone(),
        Node::BaseRelation(k) => model.relations[*k as usize].clone(),
        Node::Recursive(k) => format!("#{k}"),
        Node::Universe => "_".to_owned(),
        Node::SetUnion(a, b) | Node::Union(a, b) => format!("({} | {})", show(*a), show(*b)),
        Node::SetIntersection(a, b) | Node::Intersection(a, b) => format!("({} & {})", show(*a), show(*b)),
        Node::SetDifference(a, b) | Node::Difference(a, b) => format!("({} \\ {})", show(*a), show(*b)),
        Node::Sequence(a, b) => format!("({}; {})", show(*a), show(*b)),
        Node::Product(a, b) => format!("({} * {})", show(*a), show(*b)),
        Node::Domain(a) => format!("domain({})", show(*a)),
        Node::Range(a) => format!("range({})", show(*a)),
        Node::Identity(a) => format!("[{}]", show(*a)),
        Node::Inverse(a) => format!("{}^-1", show(*a)),
        Node::Optional(a) => format!("{}?", show(*a)),
        Node::Plus(a) => format!("{}+", show(*a)),
    }
}

/// What an expression comes to.
fn expr(text: &str) -> String {
    let model = model(&format!("empty {text}"));
    shown(&model, model.axioms[0].of)
}

#[test]
fn precedence() {
    for (text, meaning) in [
        ("po | rf; co", "(po | (rf; co))"),
        ("po; rf \\ co", "(po; (rf \\ co))"),
        ("po \\ rf & co", "(po \\ (rf & co))"),
        ("po \\ rf \\ co", "((po \\ rf) \\ co)"),
        ("po & rf; co | fr \\ id", "(((po & rf); co) | (fr \\ id))"),
        ("~po & rf", "(((_ * _) \\ po) & rf)"),
        ("~po+", "((_ * _) \\ po+)"),
        ("~W * R", "((_ * _) \\ (W * R))"),
        ("R * ~W & po", "((R * (_ \\ W)) & po)"),
        ("W * R^-1", "(W * R)^-1"),
        ("W * R?", "(W * R)?"),
        ("po & W * R", "(po & (W * R))"),
        ("po*", "po+?"),
        ("po* | rf^*", "(po+? | rf+?)"),
        ("po *; rf", "(po+?; rf)"),
        ("(po)-1; co^-1", "(po^-1; co^-1)"),
        ("po^+^-1?", "po+^-1?"),
        ("(po | rf); co", "((po | rf); co)"),
        ("[W]; po; [R | F]", "(([W]; po); [(R | F)])"),
        ("toid(W)", "[W]"),
        ("_ * _ \\ id", "((_ * _) \\ id)"),
        ("domain(rf) * range(rf)", "(domain(rf) * range(rf))"),
        ("~~W", "(_ \\ (_ \\ W))"),
        ("[W]; po-loc?; rf", "(([W]; po-loc?); rf)"),
        ("let r = po; rf in r | r^-1", "((po; rf) | (po; rf)^-1)"),
    ] {
        assert_eq!(expr(text), meaning, "{text}");
    }
}

#[test]
fn a_product_ends_before_the_next_statement() {
    let model = model("let a = po*\n~empty rf*\nflag ~empty co* as x acyclic rf*let b = po*\nshow co* as y");
    let axioms: Vec<_> = model.axioms.iter().map(|a| (a.role, a.negated, a.claim, a.name.as_str())).collect();
    let wanted = [
        (Role::Axiom, true, Claim::Empty, "rf*"),
        (Role::Flag, true, Claim::Empty, "x"),
        (Role::Axiom, false, Claim::Acyclic, "rf*"),
    ];
    assert_eq!(axioms, wanted);
    assert_eq!(model.names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!((model.shows[0].0.as_str(), shown(&model, model.shows[0].1)), ("y", "co+?".to_owned()));
}

#[test]
fn flags_say_what_should_not_be_and_undefined_unless_what_should() {
    let model = model("flag empty po undefined_unless empty po undefined_unless ~empty po flag ~empty po");
    assert_eq!(model.axioms.iter().map(|a| a.negated).collect::<Vec<_>>(), [false, true, false, true]);
    assert!(model.axioms.iter().all(|a| a.role == Role::Flag));
}

#[test]
fn later_definitions_shadow_and_earlier_ones_keep_what_they_meant() {
    let model =
        model("let co = co+ let f(x) = co; x let fr = rf^-1; co let co = po empty f(rf) empty fr let fr = id empty co");
    let all: Vec<String> = model.axioms.iter().map(|a| shown(&model, a.of)).collect();
    assert_eq!(all, ["(co+; rf)", "(rf^-1; co+)", "po"]);
    assert_eq!(
        model.names.iter().map(|(n, id)| format!("{n} {}", shown(&model, *id))).collect::<Vec<_>>(),
        ["co po", "fr id"]
    );
}

#[test]
fn functions_take_sets_and_relations() {
    let text =
        "let both(a, b) = a | b let self(r) = r; r empty both(W, R) empty both(po, rf) empty self(self(po)) empty f-1 ";
    let model = model(&text.replace("f-1", "both(both(W, F), R) let f() = W empty f()"));
    let all: Vec<String> = model.axioms.iter().map(|a| shown(&model, a.of)).collect();
    assert_eq!(all, ["(W | R)", "(po | rf)", "((po; po); (po; po))", "(R | (W | F))", "W"]);
}

#[test]
fn equal_expressions_are_one_node() {
    let model =
        model("let a = (po | rf)+ let b = (rf | po)^+ let f(x) = x+ empty a empty b empty f(po | rf) empty f(rf | po)");
    assert!(model.axioms.iter().all(|a| a.of == model.axioms[0].of));
    assert_eq!(model.nodes.len(), 4);
}

/// What [`Model`] promises of its nodes.
fn well_formed(model: &Model) {
    for (k, node) in model.nodes.iter().enumerate() {
        assert!(node.operands().all(|operand| operand.index() < k), "{model:?}");
        assert_eq!(model.is_relation[k], node.is_relation());
    }
    let inside = |k: usize| model.groups.iter().position(|g| (g.first.index()..=g.last.index()).contains(&k));
    let mut groups = vec![0; model.groups.len()];
    for (k, node) in model.nodes.iter().enumerate() {
        if let Node::Recursive(index) = node {
            let group = inside(k).expect("a recursive name is in a group");
            assert_eq!(model.groups[group].names[*index as usize].index(), k);
            assert_eq!(model.groups[group].first.index() + *index as usize, k);
            groups[group] += 1;
        } else if let Some(group) = inside(k) {
            // Every other node of a group depends on its names.
            assert!(node.operands().any(|o| inside(o.index()) == Some(group)), "{k} of {model:?}");
        } else {
            let recursive = |id: &NodeId| matches!(model.nodes[id.index()], Node::Recursive(_));
            let depends = |o: NodeId| inside(o.index()).is_some() && !recursive(&o);
            assert!(!node.operands().any(depends), "{k} of {model:?}");
        }
    }
    assert!(model.groups.iter().zip(groups).all(|(g, n)| g.names.len() == n && g.bodies.len() == n));
    assert!(model.groups.windows(2).all(|w| w[0].last < w[1].first));
    // What is used outside of a group is its names, or nodes of its own.
    let roots = model.axioms.iter().map(|a| a.of).chain(model.names.iter().chain(&model.shows).map(|(_, id)| *id));
    let inner = |id: &NodeId| inside(id.index()).is_some() && !matches!(model.nodes[id.index()], Node::Recursive(_));
    assert!(!roots.into_iter().any(|id| inner(&id)), "{model:?}");
}

/// The groups of a text, as names of each with bodies.
fn groups(text: &str) -> Vec<Vec<String>> {
    let model = model(text);
    well_formed(&model);
    model.groups.iter().map(|g| g.bodies.iter().map(|b| shown(&model, *b)).collect()).collect()
}

#[test]
fn recursive_definitions_become_groups() {
    assert_eq!(groups("let rec a = po | a; a empty a; a"), [["(po | (#0; #0))"]]);
    assert_eq!(groups("let rec a = po | b; rf and b = a; co empty a | b"), [["(po | (#1; rf))", "(#0; co)"]]);
    assert_eq!(groups("let f(x) = x | x; x let rec a = f(a) | (po; rf) empty f(a) empty po; rf").len(), 1);
    // Those that do not depend on each other are groups of their own, or none.
    assert_eq!(groups("let rec a = b; a | po and b = rf empty a"), [["((rf; #0) | po)"]]);
    assert_eq!(groups("let rec a = po | a; a and b = a | b; rf empty b"), [["(po | (#0; #0))"], ["(#0 | (#0; rf))"]]);
    assert!(groups("let rec a = po and b = a; a empty b").is_empty());
    assert!(groups("let f(x) = po let rec a = f(a) empty a").is_empty());
    assert_eq!(groups("let f(x) = po let rec a = b and b = f(a) | a empty a"), [["#1", "(po | #0)"]]);
    assert_eq!(groups("let f(x) = po let rec a = b; b and b = f(a) empty a"), [["(#1; #1)", "po"]]);
    // Inside of functions and of each other, where they do not depend on what is defined outside.
    assert_eq!(groups("let f(r) = let rec t = r | t; t in t empty f(po) | f(rf) | f(po)").len(), 2);
    assert_eq!(groups("let f(r) = let rec t = r | t; t in t let rec a = po | a; f(rf) empty a").len(), 2);
    assert_eq!(groups("let rec a = po | domain(a) * range(a) empty a"), [["(po | (domain(#0) * range(#0)))"]]);
}

fn shared(name: &str) -> Option<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = |up: &str| std::fs::read_to_string(folder.join(up).join("shared/conformance/litmus").join(name)).ok();
    ["../..", "../../.."].into_iter().find_map(file)
}

#[test]
fn public_models_are_understood() {
    let mut read = 0;
    for name in ["ptx-v6.0", "ptx-v7.5", "vulkan", "vulkan-nochains"] {
        let Some(text) = shared(&format!("cat/{name}.cat")) else { continue };
        let model = model(&text);
        well_formed(&model);
        let flags = model.axioms.iter().filter(|a| a.role == Role::Flag).count();
        assert_eq!(flags, usize::from(name.starts_with("vulkan")), "{name}");
        assert_eq!(model.groups.len(), usize::from(name == "ptx-v6.0"), "{name}");
        eprintln!("{name}: {} nodes, {} axioms", model.nodes.len(), model.axioms.len() - flags);
        read += 1;
    }
    if read == 0 {
        eprintln!("skipped: ../shared is absent");
    }
}

#[test]
fn models_come_along() {
    for name in BUILTIN {
        let model = builtin(name).unwrap_or_else(|| {
            let include = &mut |file: &str| Ok((FileId(1), source(file).unwrap().to_owned()));
            panic!("{name}: {:?}", compile(name, FileId(0), source(&format!("{name}.cat")).unwrap(), include))
        });
        well_formed(model);
        assert_eq!(model.name, *name);
        // PTX has one more for accesses that overlap in part; sequential consistency calls nothing a race.
        let flags = model.axioms.iter().filter(|a| a.role == Role::Flag).count();
        let wanted = if name.starts_with("ptx") { 2 } else { usize::from(!name.ends_with("sc")) };
        assert_eq!(flags, wanted, "{name}");
        eprintln!("{name}: {} nodes, bases {:?} {:?}", model.nodes.len(), model.sets, model.relations);
    }
    assert!(builtin("ptx").is_none());
}

/// The definitions and axioms of a model's own text.
fn defined(file: &str) -> Vec<String> {
    let (file, _) = parse(FileId(0), source(file).unwrap());
    let names = file.statements.iter().flat_map(|s| match &s.kind {
        StatementKind::Let(made) => made.definitions.iter().map(|d| d.name.name.clone()).collect(),
        StatementKind::Check(check) => vec![check.name.as_ref().unwrap().name.clone()],
        _ => Vec::new(),
    });
    names.collect()
}

#[test]
fn the_notes_have_every_definition_of_ptx_and_no_other() {
    let notes = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-notes/axioms.md");
    let notes = std::fs::read_to_string(notes).unwrap();
    let rows: Vec<Vec<&str>> =
        notes.lines().filter(|l| l.starts_with("| `")).map(|l| l.split(" |").collect()).collect();
    for (column, file) in [(1, "ptx-v6.0.cat"), (2, "ptx-v7.5.cat")] {
        let told = rows.iter().filter(|row| row[column].trim() == "yes");
        let mut told: Vec<&str> = told.flat_map(|row| row[0].split('`').skip(1).step_by(2)).collect();
        let mut defined = defined(file);
        told.sort_unstable();
        defined.sort_unstable();
        assert_eq!(told, defined, "{file}");
    }
    // Decisions that the tables, the texts and the code name are there.
    let decided = |id: &str| notes.contains(&format!("- **{id}**:"));
    let named = notes.split(|c: char| c.is_whitespace() || "*:,|()".contains(c));
    let ids: Vec<&str> = named.filter(|word| word.starts_with("D-axiom") || word.starts_with("D-cat")).collect();
    assert!(ids.len() > 30 && ids.iter().all(|id| decided(id)), "{ids:?}");
}

#[test]
fn files_are_included_in_place() {
    let all = [
        ("a.cat", "\"A\" let co = po include \"b.cat\""),
        ("b.cat", "let fr = rf^-1; co"),
        ("c.cat", "include \"c.cat\""),
    ];
    let model = compile("m", FileId(0), "PTX include \"a.cat\" empty fr", &mut |name| files(&all, name)).unwrap();
    assert_eq!(shown(&model, model.axioms[0].of), "(rf^-1; po)");
    let wrong = |text: &str| {
        let errors = compile("m", FileId(0), text, &mut |name| files(&all, name)).unwrap_err();
        let error = &errors[0];
        (error.kind.wording("\"x\"").message, error.file, error.span)
    };
    let message = "\"x\" cannot be included: no such file".to_owned();
    assert_eq!(wrong("include \"x\""), (message, FileId(0), Span::new(8, 11)));
    let message = "\"x\" includes itself, perhaps through others".to_owned();
    assert_eq!(wrong("include \"c.cat\""), (message, FileId(3), Span::new(8, 15)));
    let twice = [("a.cat", "include \"b.cat\" include \"b.cat\""), ("b.cat", "include \"c.cat\" include \"c.cat\"")];
    let mut count = 0;
    let mut endless = |name: &str| {
        count += 1;
        files(&twice, name).or_else(|_| Ok((FileId(9), format!("include \"{count}\" include \"{count}\""))))
    };
    let errors = compile("m", FileId(0), "include \"a.cat\"", &mut endless).unwrap_err();
    assert!(errors.len() < 100 && count < 100, "{} {count}", errors.len());
}

/// Complaints: the code, the text of the place, the message and the label.
fn complaints(text: &str) -> Vec<(&'static str, String, String, String)> {
    let tell = |e: CatError| {
        let here = e.span.of(text);
        let wording = e.kind.wording(here);
        (wording.code, here.to_owned(), wording.message, wording.label)
    };
    made(text).err().unwrap_or_default().into_iter().map(tell).collect()
}

#[test]
fn complaints_name_the_place() {
    let mut differ = String::new();
    for (text, wanted) in [
        ("", "empty-model|||a memory model is expected"),
        ("  // nothing", "empty-model|||a memory model is expected"),
        ("empty po $ rf", "bad-character|$|`$` begins no token of cat|not expected"),
        ("empty po (* rf", "open-comment|(*|a comment is not closed|begins here"),
        ("include \"po", "open-text|\"po|a text is not closed|begins here"),
        (
            "let a = po rf",
            "syntax|rf|unexpected `rf`|expected `and`, a statement such as `let x = e` or `acyclic e` or an operator",
        ),
        ("let a = ", "syntax||unexpected the end of the text|expected a set or a relation"),
        ("let let = po", "syntax|let|unexpected `let`|expected `rec` or a name"),
        ("flag po", "syntax|po|unexpected `po`|expected `~` or `acyclic`, `irreflexive` or `empty`"),
        ("empty (po", "syntax||unexpected the end of the text|expected `)` or an operator"),
        ("empty | po", "syntax|||unexpected `|`|expected a set or a relation"),
        ("include po", "syntax|po|unexpected `po`|expected a text such as `\"file.cat\"`"),
        ("empty po+++++++++++++++++", "too-deep|+|nested too deep|the limit is reached here"),
        ("empty poo", "unknown-name|poo|there is no set, relation or function `poo`|not defined so far"),
        ("empty f(po)", "unknown-name|f|there is no set, relation or function `f`|not defined so far"),
        ("let f(x) = f(x)", "endless-function|f|the function `f` is defined by itself|a call would never end"),
        ("let rec f(x) = f(x)", "endless-function|f|the function `f` is defined by itself|a call would never end"),
        (
            "let rec a = f(a) and f(x) = a | x",
            "endless-function|f|the function `f` is defined by itself|a call would never end",
        ),
        ("let f(x) = x empty f(po, rf)", "arguments|f(po, rf)|`f` takes 1 argument, not 2|too many or too few"),
        ("empty domain()", "arguments|domain()|`domain` takes 1 argument, not 0|too many or too few"),
        ("let f(x) = x empty f", "function-as-value|f|`f` is a function, not a set or relation|it is not called"),
        ("empty domain", "function-as-value|domain|`domain` is a function, not a set or relation|it is not called"),
        ("empty po(rf)", "not-a-function|po(rf)|`po` is a relation, not a function|called here"),
        ("acyclic W", "type|W|`W` is a set, `acyclic` needs a relation|a set"),
        ("irreflexive W | R", "type|W | R|`W | R` is a set, `irreflexive` needs a relation|a set"),
        ("empty po; W", "type|W|`W` is a set, `;` needs a relation|a set"),
        ("empty W+", "type|W|`W` is a set, `+` needs a relation|a set"),
        ("empty [po; rf]", "type|po; rf|`po; rf` is a relation, `[ ]` needs a set|a relation"),
        ("empty W * po", "type|po|`po` is a relation, `*` needs a set|a relation"),
        ("empty range(W)", "type|W|`W` is a set, `range` needs a relation|a set"),
        ("empty po | rf | W", "type|W|`|` joins a relation and a set|a set; what stands before is a relation"),
        ("empty W & po", "type|po|`&` joins a set and a relation|a relation; what stands before is a set"),
        ("empty W \\ po", "type|po|`\\` joins a set and a relation|a relation; what stands before is a set"),
        (
            "let rec a = po \\ a",
            "not-monotone|a|a recursive definition takes away what it defines|this is removed by `\\`",
        ),
        (
            "let rec a = po | ~a",
            "not-monotone|~a|a recursive definition takes away what it defines|this is removed by `~`",
        ),
        (
            "let f(x) = po \\ x let rec a = f(a)",
            "not-monotone|x|a recursive definition takes away what it defines|this is removed by `\\`",
        ),
        (
            "let rec a = po | (W \\ domain(a)) * R",
            "not-monotone|domain(a)|a recursive definition takes away what it defines|this is removed by `\\`",
        ),
        ("let rec a = W | a", "type|a|`|` joins a set and a relation|a relation; what stands before is a set"),
        ("let rec a = domain(a)", "recursive-set|domain(a)|the recursive definition of `a` is a set|a set"),
        (
            "let rec a = let rec b = a | b; b in b",
            "nested-recursion|b; b|a recursive definition depends on another one that it is inside of|both are used here",
        ),
        ("let a = po and a = rf", "defined-twice|a|`a` is defined twice at once|again"),
        ("let f(x, x) = x", "defined-twice|x|`x` is defined twice at once|again"),
    ] {
        let told: Vec<String> =
            complaints(text).into_iter().map(|(a, b, c, d)| [a.to_owned(), b, c, d].join("|")).collect();
        let want = if text.trim().is_empty() || text.contains("// n") {
            "empty-model||the file is empty|a memory model is expected"
        } else {
            wanted
        };
        if told != [want] {
            writeln!(differ, "{text}\n    {told:?}\n    {want}").unwrap();
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

#[test]
fn hints_say_what_to_do() {
    let hint = |text: &str| {
        let error = made(text).unwrap_err().remove(0);
        error.kind.wording(error.span.of(text)).hint.unwrap_or_default()
    };
    assert_eq!(hint("let cause = po empty couse"), "did you mean `cause`?");
    assert_eq!(hint("empty po-lco"), "did you mean `po-loc`?");
    assert_eq!(hint("let f(x, y) = x empty f"), "call it: `f(x, y)`");
    assert_eq!(hint("let and = po"), "`and` is a keyword and no name");
    assert_eq!(hint("empty po ∪ rf"), "write `|`");
    assert_eq!(hint("empty ¬po"), "write `~`");
    assert_eq!(hint("let f(x) = f(x)"), "a relation can be defined by itself: `let rec r = s | r; s`");
    assert!(hint("empty W; po").starts_with("`[S]` is the relation"));
}

#[test]
fn several_complaints_are_told_of_one_file() {
    let codes = |text: &str| complaints(text).iter().map(|c| c.0).collect::<Vec<_>>();
    assert_eq!(codes("let a = po | \nempty ) acyclic W;\nlet b = rf"), ["syntax", "syntax", "syntax"]);
    assert_eq!(codes("let a = poo; W let b = a | po acyclic a | rff"), ["unknown-name", "type", "unknown-name"]);
    // What was complained of is not complained of again where it is used.
    assert_eq!(codes("let a = W | po let b = a; a let f(x) = x; W empty f(a) empty b | W"), ["type", "type"]);
    let many = format!("empty {}", vec!["x"; 300].join(" | "));
    let told = codes(&many.replace(" | x", " | y")).len();
    assert_eq!(told, 300.min(super::MAX_ERRORS + 1));
}

#[test]
fn what_is_wrong_in_a_function_names_the_call() {
    let text = "let f(x) = x; po let g(x) = f(x) empty g(rf) empty g(W)";
    let errors = made(text).unwrap_err();
    let told: Vec<_> = errors.iter().map(|e| (e.span.of(text), e.call.map(|(_, span)| span.of(text)))).collect();
    assert_eq!(told, [("x", Some("g(W)"))]);
}

#[test]
fn other_names_can_be_given() {
    let names = Names::default().with("A", Sort::Set).with("rmw", Sort::Set);
    let text = "empty _ * rmw; [A]";
    let model = compile_with(&names, "m", FileId(0), text, &mut |_| Err(String::new())).unwrap();
    assert_eq!(model.sets, ["rmw", "A"]);
    assert_eq!(complaints(text).len(), 2);
    let twice: Vec<&str> = BASES.iter().map(|base| base.name).collect();
    assert!(twice.iter().enumerate().all(|(k, name)| !twice[..k].contains(name) && !KEYWORDS.contains(name)));
    assert!(BASES.iter().all(|base| parse(FileId(0), &format!("empty {}", base.name)).1.is_empty()));
}

#[test]
fn hostile_texts_end_in_a_complaint() {
    let many = |n: usize, text: &str| text.repeat(n);
    let calls = |body: &str| {
        let each = (1..60).map(|k| format!("let f{k}(x) = {} ", body.replace('f', &format!("f{}", k - 1))));
        format!("let f0(x) = x {} empty f59(po)", each.collect::<String>())
    };
    let chain = |n: usize| {
        let each = (1..n).map(|k| format!("let f{k}(x) = f{}(x) ", k - 1));
        format!("let f0(x) = x {} empty f{}(po)", each.collect::<String>(), n - 1)
    };
    for (text, code) in [
        (format!("empty {}po{}", many(100_000, "("), many(100_000, ")")), "too-deep"),
        (format!("empty {}", many(100_000, "(")), "too-deep"),
        (format!("empty {}po", many(100_000, "~")), "too-deep"),
        (format!("empty {}W{}", many(100_000, "["), many(100_000, "]")), "too-deep"),
        (format!("empty po{}", many(100_000, "+")), "too-deep"),
        (format!("empty W{}", many(100_000, " * W")), "too-deep"),
        (format!("empty {}po", many(100_000, "let a = ")), "too-deep"),
        (format!("empty {}po{}", many(100_000, "domain("), many(100_000, ")")), "too-deep"),
        (chain(5000), "too-deep"),
        (calls("f(x; po) | f(x; co)"), "too-large"),
        (format!("empty {}", many(200_000, "po;po+;")), "syntax"),
        (many(100_000, "let "), "syntax"),
        (many(100_000, "let a = po | "), "too-deep"),
        (many(99_999, "\" "), "open-text"),
    ] {
        let told = complaints(&text);
        let start: String = text.chars().take(40).collect();
        assert!(told.iter().any(|c| c.0 == code), "{start}: {:?}", &told[..told.len().min(3)]);
    }
    // Nested as deep as may be, and long, but not deep.
    for text in [
        format!("empty {}po{}", many(super::MAX_NESTING - 1, "("), many(super::MAX_NESTING - 1, ")")),
        format!("empty {}po", many(super::MAX_NESTING - 1, "~")),
        format!("empty po{}", many(20_000, " | po; rf & co \\ id")),
        format!("empty po{}", many(super::MAX_POSTFIX, "+")),
        calls("f(x) | f(x); f(x)"),
        chain(150),
    ] {
        let told = complaints(&text);
        assert!(told.is_empty(), "{}: {:?}", text.chars().take(40).collect::<String>(), told[0]);
    }
}

#[test]
fn complements_squares_and_primes_are_read_as_herd_does() {
    for (text, meaning) in [
        ("!po & rf", "(((_ * _) \\ po) & rf)"),
        ("IW * !R", "(IW * (_ \\ R))"),
        ("W^2 & loc", "((W * W) & loc)"),
        ("(W | R)^2", "((W | R) * (W | R))"),
        ("!W^2", "((_ * _) \\ (W * W))"),
    ] {
        assert_eq!(expr(text), meaning, "{text}");
    }
    assert_eq!(expr("po & let a' = rf in let a'' = co in a' | a''"), "(po & (rf | co))");
    assert_eq!(complaints("empty po^2").len(), 1);
    assert_eq!(complaints("let 'a = po").len(), 1);
}

/// D-cat-language.
#[test]
fn the_first_line_says_whether_names_are_those_of_opencl() {
    assert!(made("OpenCL\nempty [remote]; po as a").unwrap().fused);
    assert!(made("\"OpenCL RSP\"\nempty rmw").unwrap().fused);
    let errors = made("OpenCL\nempty scta").unwrap_err();
    assert!(matches!(errors[0].kind, super::CatErrorKind::Unknown { .. }));
    assert!(!made("\"OpenCLish\"\nempty po").unwrap().fused);
    let twice: Vec<&str> = super::OPENCL.iter().map(|base| base.name).collect();
    assert!(twice.iter().enumerate().all(|(k, name)| !twice[..k].contains(name) && !KEYWORDS.contains(name)));
}
