//! Modules of PTX that were read before, by their text: a mock passes the whole text with every launch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use warpstep::{Error, Module};

/// Modules that are kept at most.
const MOST: usize = 1024;
/// Bytes of their texts at most.
const MOST_BYTES: usize = 64 << 20;

/// Modules by their text.
#[derive(Default)]
struct Cache {
    /// Each with when it was asked for last.
    modules: BTreeMap<Arc<str>, (Module, u64)>,
    bytes: usize,
    clock: u64,
}

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);

impl Cache {
    fn get(&mut self, text: &str) -> Option<Module> {
        self.clock += 1;
        let (module, used) = self.modules.get_mut(text)?;
        *used = self.clock;
        Some(module.clone())
    }

    /// Keeps a module, and forgets those that were not asked for the longest time where there is no room.
    fn put(&mut self, text: &str, module: &Module) {
        if text.len() > MOST_BYTES || self.modules.contains_key(text) {
            return;
        }
        while self.modules.len() >= MOST || self.bytes + text.len() > MOST_BYTES {
            let oldest = self.modules.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(text, _)| Arc::clone(text)) else { break };
            self.modules.remove(&oldest);
            self.bytes -= oldest.len();
        }
        self.bytes += text.len();
        self.modules.insert(text.into(), (module.clone(), self.clock));
    }
}

/// The module of a text.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn module(text: &str) -> Result<Module, Error> {
    // A panic leaves nothing half done that matters: it is a cache.
    let cached = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(module) = cached().get_or_insert_default().get(text) {
        return Ok(module);
    }
    // Not under the lock: other threads launch meanwhile.
    let module = Module::from_ptx(text)?;
    cached().get_or_insert_default().put(text, &module);
    Ok(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(k: usize) -> String {
        format!(".version 7.5\n.target sm_50\n.address_size 64\n.visible .entry k{k}() {{ ret; }}\n")
    }

    #[test]
    fn the_oldest_make_room() {
        let (mut cache, module) = (Cache::default(), Module::from_ptx(&text(0)).unwrap());
        for k in 0..MOST + 10 {
            assert!(cache.get(&text(k)).is_none());
            cache.put(&text(k), &module);
            assert!(cache.get(&text(0)).is_some(), "asked for all the time");
        }
        assert_eq!(cache.modules.len(), MOST);
        assert!(cache.get(&text(1)).is_none() && cache.get(&text(MOST)).is_some());
        let large = "x".repeat(MOST_BYTES - 10);
        cache.put(&large, &module);
        assert_eq!((cache.modules.len(), cache.bytes), (1, large.len()));
    }

    #[test]
    fn a_text_is_read_once() {
        let first = module(&text(7)).unwrap();
        assert_eq!(std::ptr::from_ref(first.text()), std::ptr::from_ref(module(&text(7)).unwrap().text()));
        assert!(module("what is this").is_err() && module("what is this").is_err());
    }
}
