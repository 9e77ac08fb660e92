//! Asked once per step, before its gate: allow, ask or deny.
