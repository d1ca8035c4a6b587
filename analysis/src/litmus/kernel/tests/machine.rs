//! Threads one after another, each alone, leave the memory that the machine leaves: kernels of `ptx-examples` whose threads do not
//! wait for each other.

use super::{Written, alone, commit, differences};
use crate::axiom::{End, Kind, Program};
use crate::base::SourceMap;
use crate::launch::{Device, Spec, load};
use crate::litmus::kernel::Kernel;
use crate::machine::Config;
use crate::verdict::Silent;
use std::path::{Path, PathBuf};

/// Threads of a launch that are not too many for a test.
const MANY: usize = 130;

/// How many launches of a file agree. None: one cannot be compared, for the reason given.
fn agree(path: &Path) -> Result<usize, String> {
    let mut sources = SourceMap::default();
    let spec = Spec::read(path, &mut sources).map_err(|e| format!("{e:?}"))?;
    let env = load(&spec.ptx, None, &mut sources).map_err(|e| format!("{e:?}"))?;
    let mut device = Device::new(env, sources, Config::default()).map_err(|e| format!("{e:?}"))?;
    device.prepare(&spec).map_err(|e| format!("{e:?}"))?;
    let mut count = 0;
    for launch in &spec.launches {
        let checked = device.check(launch).map_err(|e| format!("{e:?}"))?;
        let kernel = Kernel::new(device.context(), &checked).map_err(|e| format!("{e:?}"))?;
        if kernel.threads() > MANY {
            return Err(format!("{} threads", kernel.threads()));
        }
        let mut written = Written::default();
        for thread in 0..kernel.threads() {
            let Some((trace, reads)) = alone(&kernel, thread, &written) else { return Err("many rounds".to_owned()) };
            if trace.events.iter().any(|e| e.kind == Kind::Barrier) {
                return Err("barriers".to_owned());
            }
            match trace.end {
                End::Done => {}
                End::Unsupported(what) => return Err(what),
                other => panic!("{path:?}, thread {thread}: {other:?}"),
            }
            let unknown = trace.events.iter().zip(&reads).position(|(e, r)| e.kind == Kind::Read && r.is_none());
            assert_eq!(unknown, None, "{path:?}, thread {thread}");
            commit(&trace, &mut written);
        }
        device.launch(launch, Silent, &mut |_| ()).map_err(|e| format!("{e:?}"))?;
        assert_eq!(differences(&kernel, &written, device.context()), [], "{path:?}, launch {count}");
        count += 1;
    }
    Ok(count)
}

#[test]
fn examples_without_barriers_agree_with_the_machine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx-examples");
    let entries = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect::<Vec<_>>();
    let folders = entries(&folder).into_iter().filter(|p| p.is_dir());
    let mut files: Vec<PathBuf> = folders.flat_map(|f| entries(&f)).collect();
    // The order of a queue of bfs is that of the threads.
    files.retain(|f| f.extension().is_some_and(|e| e == "toml") && !f.starts_with(folder.join("bfs")));
    files.sort();
    let (mut agreed, mut launches, mut why) = (0, 0, Vec::new());
    for file in &files {
        match agree(file) {
            Ok(count) => {
                agreed += 1;
                launches += count;
            }
            Err(reason) => why.push(format!("{}: {reason}", file.strip_prefix(&folder).unwrap().display())),
        }
    }
    let not = why.join("\n");
    println!("{agreed} files with {launches} launches agree; not compared:\n{not}");
    assert!(agreed >= 10 && launches >= 20, "{agreed} files, {launches} launches\n{not}");
}
