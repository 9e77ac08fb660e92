//! One journey in a real Chromium.
