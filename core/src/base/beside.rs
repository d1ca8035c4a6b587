//! Large values that nobody needs any more.

use std::thread::Builder;

/// Drops a value on a thread of its own: freeing millions of small parts takes seconds, and who has an answer does not wait for
/// it. A process that ends meanwhile ends.
pub fn drop_beside<T: Send + 'static>(value: T) {
    // Without a thread it is dropped here.
    let _ = Builder::new().name("drop".to_owned()).spawn(move || drop(value));
}
