//! Every key of the builder on one sheet.

use leptos::prelude::*;

use crate::ui::dialog::Dialog;

const SHEET: [(&str, &[(&str, &str)]); 4] = [
    (
        "Build",
        &[
            ("N or /", "Add a node at the pointer"),
            ("C", "Connect the selected node"),
            ("Shift N", "Add a note"),
            ("Delete", "Remove what is selected"),
            ("Ctrl D", "Duplicate"),
            ("Ctrl C, X, V", "Copy, cut, paste, also between tabs"),
            ("Shift Alt T", "Tidy the layout"),
        ],
    ),
    (
        "Move",
        &[
            ("Arrows", "Go to the nearest node"),
            ("Alt arrows", "Move what is selected"),
            ("Ctrl A", "Select everything"),
            ("Shift drag", "Select in a box"),
            ("Ctrl F", "Find in this flow"),
            ("Ctrl K", "Do something by its name"),
        ],
    ),
    (
        "See",
        &[
            ("F", "Show everything"),
            ("Ctrl wheel, pinch", "Zoom"),
            ("Wheel, two fingers", "Pan"),
            ("Space drag", "Pan over anything"),
        ],
    ),
    (
        "Keep",
        &[
            ("Ctrl S", "Save"),
            ("Ctrl Z", "Undo"),
            ("Ctrl Shift Z", "Redo"),
            ("Esc", "Take back, close, clear the selection"),
            ("?", "This sheet"),
        ],
    ),
];

/// The sheet.
#[component]
pub(crate) fn Shortcuts(open: RwSignal<bool>) -> impl IntoView {
    view! {
        <Dialog open title="Keys".to_owned()>
            <div class="shortcuts">
                {SHEET
                    .map(|(title, keys)| {
                        let rows = keys
                            .iter()
                            .map(|(key, does)| {
                                view! {
                                    <dt><kbd>{*key}</kbd></dt>
                                    <dd>{*does}</dd>
                                }
                            })
                            .collect_view();
                        view! {
                            <section>
                                <h3>{title}</h3>
                                <dl>{rows}</dl>
                            </section>
                        }
                    })
                    .into_iter()
                    .collect_view()}
            </div>
        </Dialog>
    }
}
