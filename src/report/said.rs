//! The words of a complaint about an input.

use super::diagnostic::Diagnostic;
use crate::base::{FileId, Span, suggest};

/// The parts of a message, apart from its place.
pub(super) struct Said {
    /// A short fixed name.
    pub code: &'static str,
    /// What is wrong: one line.
    pub message: String,
    pub label: String,
    pub hint: Option<String>,
}

/// A complaint: its name, what is wrong, and what is wrong with the very place.
pub(super) fn said(code: &'static str, message: impl Into<String>, label: impl Into<String>) -> Said {
    Said { code, message: message.into(), label: label.into(), hint: None }
}

impl Said {
    /// The same with a text at the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with advice.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.hint_if(Some(hint.into()))
    }

    /// The same with advice, if there is any.
    pub fn hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// The same with the likely meaning of a word, or else with other advice.
    pub fn meant<'a>(
        self,
        word: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: impl FnOnce() -> Option<String>,
    ) -> Self {
        let near = suggest(word, known).map(|near| format!("did you mean `{near}`?"));
        self.hint_if(near.or_else(otherwise))
    }

    /// The message about a place.
    pub fn at(self, file: FileId, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code, file, span, self.message).label(self.label);
        Diagnostic { hint: self.hint, ..diagnostic }
    }
}
