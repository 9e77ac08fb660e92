//! What this machine decided about plugins, by their id.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable, TableDefinition};

use super::error::StoreError;
use super::tables::{self, OpenTables};
use crate::trust::PluginRecord;

/// Plugin's id → the decision, as JSON.
pub(super) const PLUGINS: TableDefinition<&str, &[u8]> = TableDefinition::new("plugins");

/// Stores what was decided about one plugin.
pub(super) fn put(tables: &mut OpenTables<'_>, id: &str, record: &PluginRecord) -> Result<(), StoreError> {
    let json = serde_json::to_vec(record).map_err(|error| StoreError::Io { reason: error.to_string() })?;
    tables.plugins.insert(id, json.as_slice())?;
    Ok(())
}

/// Every decision. One that cannot be read trusts nothing: it is as if it had never been made.
pub(super) fn all(transaction: &ReadTransaction) -> Result<BTreeMap<String, PluginRecord>, StoreError> {
    let Some(plugins) = tables::readable(transaction, PLUGINS)? else { return Ok(BTreeMap::new()) };
    let mut records = BTreeMap::new();
    for entry in plugins.iter()? {
        let (id, json) = entry?;
        records.insert(id.value().to_owned(), serde_json::from_slice(json.value()).unwrap_or_default());
    }
    Ok(records)
}
