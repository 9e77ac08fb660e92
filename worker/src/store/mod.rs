//! The durable store: journal and history in redb, one writer.
