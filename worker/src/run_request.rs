//! Where every trigger ends up: one request, bound and admitted.
