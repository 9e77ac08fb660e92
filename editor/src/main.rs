//! The page's entry: everything is in the library, so that what is pure can be tested on the host.

fn main() {
    #[cfg(target_arch = "wasm32")]
    weir_editor::start();
}
