use weir_shared::wire::PluginEffects;

use super::*;
use crate::trust::PluginRecord;

#[tokio::test]
async fn what_was_decided_about_plugins_lasts_over_a_restart() {
    let home = Home::new();
    let store = home.open();
    assert!(store.plugins().unwrap().is_empty());
    let trusted = PluginRecord { trusted: Some("ab".to_owned()), effects: PluginEffects::Declared, enabled: true };
    store.put_plugin("a".to_owned(), PluginRecord::default()).await.unwrap();
    store.put_plugin("a".to_owned(), trusted.clone()).await.unwrap();
    store.put_plugin("b".to_owned(), PluginRecord { enabled: false, ..PluginRecord::default() }).await.unwrap();
    store.close().await;

    let records = home.open().plugins().unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(records["a"], trusted);
    assert!(!records["b"].enabled);
}
