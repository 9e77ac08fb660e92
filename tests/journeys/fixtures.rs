//! `weir check`, the API and the reader that the page shares say the same of every fixture.
