//! The application: the router and nothing else. Which page stands behind which path is decided only here.

use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::builder::BuilderPage;

/// The whole page.
#[component]
pub(crate) fn App() -> impl IntoView {
    view! {
        <Router>
            <Routes fallback=|| "There is nothing here.">
                <Route path=path!("/flows/:id") view=BuilderPage />
            </Routes>
        </Router>
    }
}
