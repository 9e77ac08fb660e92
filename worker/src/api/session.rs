//! Sessions: a page trades the token for a cookie that scripts cannot read, and gives it back.
