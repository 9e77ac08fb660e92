//! The page, embedded in the release binary and served precompressed.
