//! The application: what every page finds in its context, the door, and the router. Which page stands behind which
//! path is decided only here.

use leptos::prelude::*;
use leptos_router::components::{Route, Router, Routes};
use leptos_router::path;

use crate::backend::connection::{Connection, LinkBanner};
use crate::backend::session::SessionHandle;
use crate::builder::BuilderPage;
use crate::library::LibraryPage;
use crate::runs::{RunPage, RunsPage};
use crate::shell::{Counts, Door};
use crate::ui::empty::Empty;
use crate::ui::icon::Glyph;
use crate::ui::theme::provide_theme;
use crate::ui::toast::{ToastHost, Toasts};

/// The whole page.
#[component]
pub(crate) fn App() -> impl IntoView {
    provide_theme();
    Toasts::provide();
    Connection::provide();
    // After the connection: it tells it what its first call shows.
    SessionHandle::provide();
    Counts::provide();
    let nowhere = || {
        view! {
            <Empty glyph=Glyph::Search title="There is nothing at this address"
                text="It may belong to a flow or a run that is no longer there.">
                <a class="btn outline" href="/">"All flows"</a>
            </Empty>
        }
    };
    view! {
        <LinkBanner />
        <Door>
            <Router>
                <Routes fallback=nowhere>
                    <Route path=path!("/") view=LibraryPage />
                    <Route path=path!("/runs") view=RunsPage />
                    <Route path=path!("/runs/:id") view=RunPage />
                    <Route path=path!("/flows/:id") view=BuilderPage />
                </Routes>
            </Router>
        </Door>
        <ToastHost />
    }
}
