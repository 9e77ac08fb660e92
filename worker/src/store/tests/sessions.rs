use weir_shared::flow::PermissionMode;

use super::*;
use crate::store::SessionRecord;

fn session(owner: &str, expires_at: i64) -> SessionRecord {
    SessionRecord {
        owner: Owner(owner.to_owned()),
        scope: "admin".to_owned(),
        permission_mode: PermissionMode::FullAccess,
        expires_at: Timestamp(expires_at),
    }
}

#[tokio::test]
async fn a_session_lasts_over_a_restart_until_it_expires_or_is_ended() {
    let home = Home::new();
    let store = home.open();
    store.put_session([1; 32], session("ada", 1_000), Timestamp(0)).await.unwrap();
    store.put_session([2; 32], session("bob", 2_000), Timestamp(0)).await.unwrap();
    store.close().await;

    let store = home.open();
    assert_eq!(store.session(&[1; 32], Timestamp(999)).unwrap(), Some(session("ada", 1_000)));
    assert_eq!(store.session(&[1; 32], Timestamp(1_000)).unwrap(), None);
    assert_eq!(store.session(&[3; 32], Timestamp(0)).unwrap(), None);
    store.drop_session([2; 32]).await.unwrap();
    assert_eq!(store.session(&[2; 32], Timestamp(0)).unwrap(), None);
}

#[tokio::test]
async fn a_new_session_takes_the_expired_ones_away() {
    let home = Home::new();
    let store = home.open();
    store.put_session([1; 32], session("ada", 1_000), Timestamp(0)).await.unwrap();
    store.put_session([2; 32], session("bob", 9_000), Timestamp(5_000)).await.unwrap();
    assert_eq!(store.session(&[1; 32], Timestamp(0)).unwrap(), None, "it is gone, not merely hidden");
    assert!(store.session(&[2; 32], Timestamp(0)).unwrap().is_some());
}
