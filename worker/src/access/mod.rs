//! Who may call: tokens, sessions, Host and Origin. Pure; `api` adapts.
