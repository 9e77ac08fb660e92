use weir_shared::webhook::DeliveryStatus;

use super::*;
use crate::store::{Admitted, Claim, DeliveryClaim, TriggerRecord};

const WEEK_MS: i64 = 7 * 24 * 60 * 60 * 1000;

fn trigger(n: u8) -> TriggerRecord {
    TriggerRecord {
        id: weir_shared::ids::TriggerId::from_bytes([n; 16]),
        flow: flow("report"),
        name: None,
        owner: Owner::local(),
        default_inputs: serde_json::Map::new(),
        permission_mode: weir_shared::flow::PermissionMode::FullAccess,
        sandbox: SandboxPosture::Off,
        secret: Some([n; 32]),
        generation: 0,
        signature: None,
        rate_limit: None,
        created_at: Timestamp(0),
        rotated_at: None,
    }
}

fn claim(trigger: &TriggerRecord, event: Option<u8>, at: i64) -> Claim {
    let (trigger, generation) = (trigger.id.clone(), trigger.generation);
    Claim::Delivery(DeliveryClaim { trigger, generation, event: event.map(|n| [n; 32]), at: Timestamp(at) })
}

async fn admit(store: &Store, n: u32, claim: Claim) -> Admitted {
    let row = RunRow { cause: Cause::Webhook, ..row(n) };
    store.admit(run(n), vec![created(n)], row, claim).await.unwrap()
}

async fn end(store: &Store, n: u32, status: RunStatus) {
    let completed_at = Some(Timestamp(1_000 * i64::from(n) + 500));
    let row = RunRow { cause: Cause::Webhook, status, completed_at, ..row(n) };
    store.append(run(n), vec![event(2)], row).await.unwrap();
}

#[tokio::test]
async fn of_all_calls_with_one_event_one_is_admitted_and_the_others_are_told_of_it() {
    let home = Home::new();
    let store = home.open();
    let hook = trigger(1);
    store.put_trigger(hook.clone()).await.unwrap();
    let calls = (1..=50).map(|n| admit(&store, n, claim(&hook, Some(7), 0)));
    let answers = futures_util::future::join_all(calls).await;
    let first = answers.iter().position(|answer| *answer == Admitted::New).unwrap();
    let winner = run(u32::try_from(first + 1).unwrap());
    for (at, answer) in answers.iter().enumerate().filter(|(at, _)| *at != first) {
        let Admitted::Duplicate(claimed) = answer else { panic!("call {at}: {answer:?}") };
        assert_eq!(claimed.run, winner);
        assert_eq!(store.run(&run(u32::try_from(at + 1).unwrap())).unwrap(), None, "nothing of it is there");
    }
    store.close().await;

    // As after a kill: the claim and its run are there together.
    let store = home.open();
    assert!(
        matches!(admit(&store, 60, claim(&hook, Some(7), 0)).await, Admitted::Duplicate(claimed) if claimed.run == winner)
    );
    let deliveries = store.deliveries(&hook.id, 100).unwrap();
    assert_eq!(deliveries.len(), 1);
    assert_eq!((deliveries[0].duplicates, deliveries[0].idempotency_key_present), (50, true));
    assert_eq!(deliveries[0].status, DeliveryStatus::Queued);
}

#[tokio::test]
async fn a_delivery_ends_as_its_run_does_and_its_event_still_knows_when_both_are_gone() {
    use DeliveryStatus::{Cancelled, Completed, Failed, Interrupted};

    let home = Home::new();
    let store = home.open();
    let hook = trigger(1);
    store.put_trigger(hook.clone()).await.unwrap();
    let ends = [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled, RunStatus::Interrupted];
    for (n, status) in (1..).zip(ends) {
        assert_eq!(
            admit(&store, n, claim(&hook, Some(u8::try_from(n).unwrap()), 1_000 * i64::from(n))).await,
            Admitted::New
        );
        end(&store, n, status).await;
    }
    let shown: Vec<_> =
        store.deliveries(&hook.id, 100).unwrap().into_iter().map(|it| (it.status, it.duration_ms)).collect();
    assert_eq!(shown, [Interrupted, Cancelled, Failed, Completed].map(|status| (status, Some(500))));

    store.delete_run(run(2)).await.unwrap();
    let claimed = store.count_duplicate(&hook.id, [2; 32]).await.unwrap().unwrap();
    assert_eq!(store.delivery_status(&claimed).unwrap(), Failed);
    assert_eq!(store.count_duplicate(&hook.id, [99; 32]).await.unwrap(), None);
}

#[tokio::test]
async fn a_thousand_deliveries_of_a_trigger_are_kept_and_events_outlive_them() {
    let home = Home::new();
    let store = home.open();
    let (hook, other) = (trigger(1), trigger(2));
    store.put_trigger(hook.clone()).await.unwrap();
    store.put_trigger(other.clone()).await.unwrap();
    assert_eq!(admit(&store, 5_000, claim(&other, None, 0)).await, Admitted::New);
    let calls = (1..=1_003).map(|n| admit(&store, n, claim(&hook, (n == 1).then_some(1), 0)));
    assert!(futures_util::future::join_all(calls).await.iter().all(|answer| *answer == Admitted::New));
    let kept = store.deliveries(&hook.id, 2_000).unwrap();
    assert_eq!(kept.len(), 1_000);
    assert!(kept.iter().all(|delivery| !delivery.idempotency_key_present), "the oldest went");
    assert_eq!(store.deliveries(&other.id, 10).unwrap().len(), 1);
    assert!(matches!(admit(&store, 2_000, claim(&hook, Some(1), 0)).await, Admitted::Duplicate(_)));
}

#[tokio::test]
async fn an_event_is_known_for_a_week() {
    let home = Home::new();
    let store = home.open();
    let hook = trigger(1);
    store.put_trigger(hook.clone()).await.unwrap();
    assert_eq!(admit(&store, 1, claim(&hook, Some(1), 1_000)).await, Admitted::New);
    store.expire_events(Timestamp(1_000 + WEEK_MS)).await.unwrap();
    assert!(matches!(admit(&store, 2, claim(&hook, Some(1), 1_000 + WEEK_MS)).await, Admitted::Duplicate(_)));
    // One that comes later takes it along.
    assert_eq!(admit(&store, 3, claim(&hook, Some(2), 1_001 + WEEK_MS)).await, Admitted::New);
    assert_eq!(admit(&store, 4, claim(&hook, Some(1), 1_002 + WEEK_MS)).await, Admitted::New);
    assert_eq!(store.expire_events(Timestamp(1_003 + 2 * WEEK_MS)).await.unwrap(), 2);
}

#[tokio::test]
async fn a_call_that_was_let_in_before_its_trigger_went_or_got_another_secret_starts_nothing() {
    let home = Home::new();
    let store = home.open();
    let hook = trigger(1);
    store.put_trigger(hook.clone()).await.unwrap();
    let replaced = store.replace_secret(hook.id.clone(), [9; 32], Timestamp(5)).await.unwrap().unwrap();
    assert_eq!((replaced.secret, replaced.generation, replaced.rotated_at), (Some([9; 32]), 1, Some(Timestamp(5))));
    assert_eq!(admit(&store, 1, claim(&hook, Some(1), 0)).await, Admitted::Gone);
    assert_eq!(admit(&store, 2, claim(&replaced, Some(1), 0)).await, Admitted::New);

    assert!(store.remove_trigger(hook.id.clone()).await.unwrap());
    assert!(!store.remove_trigger(hook.id.clone()).await.unwrap());
    assert_eq!(admit(&store, 3, claim(&replaced, None, 0)).await, Admitted::Gone);
    assert_eq!(store.run(&run(3)).unwrap(), None);
    assert_eq!(store.count_duplicate(&hook.id, [1; 32]).await.unwrap(), None);
    assert!(store.deliveries(&hook.id, 10).unwrap().is_empty() && store.triggers().unwrap().is_empty());
    // The run that it had started goes on and ends.
    end(&store, 2, RunStatus::Completed).await;
    assert_eq!(store.run(&run(2)).unwrap().unwrap().status, RunStatus::Completed);
}
