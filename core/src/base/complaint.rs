//! Complaints about what people write, and other things that are told in words: an enumeration whose table has the words, too.
//!
//! A kind of complaint is a row, so that its data and what is said of it stand side by side (D-complaint-table).

/// A complaint in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wording {
    /// A short fixed name of the kind of complaint.
    pub code: &'static str,
    /// What is wrong: one line.
    pub message: String,
    /// What is wrong with the very place; may be empty.
    pub label: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Wording {
    /// A complaint without advice.
    #[must_use]
    pub fn new(code: &'static str, message: impl Into<String>, label: impl Into<String>) -> Self {
        Self { code, message: message.into(), label: label.into(), hint: None }
    }

    /// The same with advice.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same with advice, if there is some.
    #[must_use]
    pub fn hint_if(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }

    /// The complaint about a text that has something where others are expected.
    #[must_use]
    pub fn unexpected(found: &str, expected: &str) -> Self {
        let label = if expected.is_empty() { "not expected here".to_owned() } else { format!("expected {expected}") };
        Self::new("syntax", format!("unexpected {found}"), label)
    }
}

/// What a text has where something else is expected, when it ends there.
pub const END: &str = "the end of the text";

/// Declares an enumeration of complaints. A row is a member with its data, its fixed name, its message, what is said at the
/// place, and perhaps advice; each text may have the data in it, and what is given to `wording`. Where that is not enough, a
/// block makes the [`Wording`].
///
/// ```text
/// NoRegister { name: String } => "no-register" ("there is no register `{name}`") ("not declared") ("declare it before");
/// Value(text: String)         => "bad-value" ("`{text}` is no value") ("here") if meant(text);
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! complaints {
    (
        $(#[$meta:meta])*
        pub enum $name:ident($($given:ident: $given_type:ty),*) {
            $(
                $(#[$doc:meta])*
                $member:ident $(($($item:ident: $item_type:ty),*))? $({ $($(#[$field_doc:meta])* $field:ident: $field_type:ty),* $(,)? })?
                => $code:tt $(($($message:tt)*) ($($label:tt)*) $(($($hint:tt)*))? $(if $advice:expr)?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $member $(($($item_type),*))? $({ $($(#[$field_doc])* $field: $field_type),* })?,)*
        }

        impl $name {
            /// It in words.
            #[must_use]
            #[allow(unused_variables, reason = "not all data is told in words")]
            pub fn wording(&self $(, $given: $given_type)*) -> $crate::base::Wording {
                match self {
                    $(Self::$member $(($($item),*))? $({ $($field),* })? => {
                        $crate::base::complaints!(@ $code $(($($message)*) ($($label)*) $(($($hint)*))? $(if $advice)?)?)
                    })*
                }
            }
        }
    };
    (@ $whole:block) => { $whole };
    (@ $code:literal ($($message:tt)*) ($($label:tt)*)) => {
        $crate::base::Wording::new($code, format!($($message)*), format!($($label)*))
    };
    (@ $code:literal ($($message:tt)*) ($($label:tt)*) ($($hint:tt)*)) => {
        $crate::base::Wording::new($code, format!($($message)*), format!($($label)*)).hint(format!($($hint)*))
    };
    (@ $code:literal ($($message:tt)*) ($($label:tt)*) if $advice:expr) => {
        $crate::base::Wording::new($code, format!($($message)*), format!($($label)*)).hint_if($advice)
    };
}
pub use complaints;

/// Declares an enumeration whose members are told in a few words (`Display`), which may have their data in them; or a block
/// makes what is to be displayed.
#[doc(hidden)]
#[macro_export]
macro_rules! phrases {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(
                $(#[$doc:meta])*
                $member:ident $(($($item:ident: $item_type:ty),*))? $({ $($(#[$field_doc:meta])* $field:ident: $field_type:ty),* $(,)? })?
                => $text:tt;
            )*
        }
    ) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$doc])* $member $(($($item_type),*))? $({ $($(#[$field_doc])* $field: $field_type),* })?,)*
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$member $(($($item),*))? $({ $($field),* })? => $crate::base::phrases!(@ f $text),)*
                }
            }
        }
    };
    (@ $f:ident $whole:block) => { write!($f, "{}", $whole) };
    (@ $f:ident ($($text:tt)*)) => { write!($f, $($text)*) };
}
pub use phrases;
