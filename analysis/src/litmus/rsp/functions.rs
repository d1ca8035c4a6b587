//! The names of functions, in both forms.

use super::access::MemoryScope as Scope;
use super::tree::Form;
use crate::litmus::tree::Atom;

/// What a function does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::litmus) enum Does {
    Load,
    Store,
    Update(Atom),
    CompareExchange,
}

/// OpenCL's functions and what they do. Each may end in `_remote`.
pub(in crate::litmus) const OPENCL: [(&str, Does); 9] = [
    ("atomic_load_explicit", Does::Load),
    ("atomic_store_explicit", Does::Store),
    ("atomic_exchange_explicit", Does::Update(Atom::Exch)),
    ("atomic_fetch_add_explicit", Does::Update(Atom::Add)),
    ("atomic_fetch_sub_explicit", Does::Update(Atom::Sub)),
    ("atomic_fetch_and_explicit", Does::Update(Atom::And)),
    ("atomic_fetch_or_explicit", Does::Update(Atom::Or)),
    ("atomic_fetch_xor_explicit", Does::Update(Atom::Xor)),
    ("atomic_compare_exchange_strong_explicit", Does::CompareExchange),
];

/// The paper's functions; `compare_exchange`, which it only mentions, takes values and tells whether it succeeded. How and for whom
/// follows after `_`: `na`, or a scope and perhaps `N` or `R`.
pub(in crate::litmus) const LISTS: [(&str, Does); 4] = [
    ("load", Does::Load),
    ("store", Does::Store),
    ("fetch_inc", Does::Update(Atom::Add)),
    ("compare_exchange", Does::CompareExchange),
];

/// The functions of a form, in full, for hints.
pub(in crate::litmus) fn functions(form: Form) -> Vec<String> {
    match form {
        Form::OpenCl => OPENCL.iter().flat_map(|(name, _)| [(*name).to_owned(), format!("{name}_remote")]).collect(),
        Form::Lists => {
            let ways =
                Scope::ALL.iter().flat_map(|scope| ["", "_N", "_R"].map(|mark| format!("{}{mark}", scope.name())));
            let ways: Vec<String> = ways.collect();
            let atomic = LISTS.iter().flat_map(|(name, _)| ways.iter().map(move |way| format!("{name}_{way}")));
            ["load_na", "store_na"].map(str::to_owned).into_iter().chain(atomic).collect()
        }
    }
}

impl Does {
    /// How a call is written.
    pub(in crate::litmus) const fn written(self, form: Form) -> &'static str {
        match (form, self) {
            (Form::OpenCl, Self::Load) => "atomic_load_explicit(location, order, scope)",
            (Form::OpenCl, Self::Store) => "atomic_store_explicit(location, value, order, scope)",
            (Form::OpenCl, Self::Update(_)) => "atomic_fetch_add_explicit(location, value, order, scope)",
            (Form::OpenCl, Self::CompareExchange) => {
                "atomic_compare_exchange_strong_explicit(location, expected, value, order, order on failure, scope)"
            }
            (Form::Lists, Self::Load) => "load_DV_R(location)",
            (Form::Lists, Self::Store) => "store_DV_R(location, value)",
            (Form::Lists, Self::Update(_)) => "fetch_inc_DV_R(location)",
            (Form::Lists, Self::CompareExchange) => "compare_exchange_DV_R(location, expected, value)",
        }
    }
}
