use super::*;
use crate::access::token::OpenedBy;
use crate::store::SessionRecord;

fn session(token: u8, expires_at: i64) -> SessionRecord {
    SessionRecord { opened_by: OpenedBy::Named([token; 32]), expires_at: Timestamp(expires_at) }
}

#[tokio::test]
async fn a_session_lasts_over_a_restart_until_it_expires_or_is_ended() {
    let home = Home::new();
    let store = home.open();
    store.put_session([1; 32], session(7, 1_000), Timestamp(0)).await.unwrap();
    store.put_session([2; 32], session(8, 2_000), Timestamp(0)).await.unwrap();
    store.close().await;

    let store = home.open();
    assert_eq!(store.session(&[1; 32], Timestamp(999)).unwrap(), Some(session(7, 1_000)));
    assert_eq!(store.session(&[1; 32], Timestamp(1_000)).unwrap(), None);
    assert_eq!(store.session(&[3; 32], Timestamp(0)).unwrap(), None);
    store.drop_session([2; 32]).await.unwrap();
    assert_eq!(store.session(&[2; 32], Timestamp(0)).unwrap(), None);
}

#[tokio::test]
async fn a_new_session_takes_the_expired_ones_away() {
    let home = Home::new();
    let store = home.open();
    store.put_session([1; 32], session(7, 1_000), Timestamp(0)).await.unwrap();
    store.put_session([2; 32], session(8, 9_000), Timestamp(5_000)).await.unwrap();
    assert_eq!(store.session(&[1; 32], Timestamp(0)).unwrap(), None, "it is gone, not merely hidden");
    assert!(store.session(&[2; 32], Timestamp(0)).unwrap().is_some());
}
