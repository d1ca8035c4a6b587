//! Enumerations whose members have words in texts: one table serves both ways.

/// Declares an enumeration with the word of each member beside it.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $member:ident = $word:literal,)* }) => {
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
                Self::ALL.iter().copied().find(|member| member.name() == word)
            }
        }
    };
}
pub(crate) use words;
