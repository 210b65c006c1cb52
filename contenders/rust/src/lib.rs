//! Ways of reading a file, and of visiting its bytes.
