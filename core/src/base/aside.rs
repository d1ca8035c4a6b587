//! What a state carries along and is no part of it: kept to be reused, or remembered to be quick.

use std::hash::{Hash, Hasher};

/// A value that equals any other of its type and is not copied.
#[derive(Debug, Default)]
pub struct Aside<T>(pub T);

impl<T: Default> Clone for Aside<T> {
    fn clone(&self) -> Self {
        Self(T::default())
    }
}

impl<T> PartialEq for Aside<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Aside<T> {}

impl<T> Hash for Aside<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
