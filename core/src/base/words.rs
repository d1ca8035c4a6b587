//! Enumerations whose members have words in texts: one table serves both ways.

/// Declares an enumeration with the word of each member beside it, and others that are taken for it.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $member:ident = $word:literal $(| $other:literal)*,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $member,)* }

        impl $name {
            /// All of them, in their order.
            pub const ALL: &[Self] = &[$(Self::$member,)*];

            /// Its word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$member => $word,)* }
            }

            /// The one of a word.
            #[must_use]
            pub fn named(word: &str) -> Option<Self> {
                match word { $($word $(| $other)* => Some(Self::$member),)* _ => None }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Self::named(word).ok_or_else(|| format!("one of {}", [$($word,)*].join(", ")))
            }
        }
    };
}
pub use words;
