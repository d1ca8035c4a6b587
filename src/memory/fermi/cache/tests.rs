//! Tests of the caches.
