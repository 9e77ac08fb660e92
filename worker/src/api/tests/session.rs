//! A page's session, from the token to the last request.

use super::client::Ask;
use super::server::Server;

fn open(token: &str) -> Ask {
    Ask::new("POST", "/api/session").body(serde_json::json!({ "token": token }).to_string())
}

#[tokio::test]
async fn a_token_is_traded_for_a_cookie_that_works_until_it_is_given_back() {
    let server = Server::start().await;
    let opened = open(&server.token).send(server.address).await;
    assert_eq!((opened.status, opened.json()["scope"].as_str()), (200, Some("admin")));
    let set = opened.header("set-cookie").unwrap();
    for attribute in ["weir-session-", "httponly", "samesite=strict", "path=/", "max-age=86400"] {
        assert!(set.contains(attribute), "{set}");
    }
    let cookie = set.split(';').next().unwrap().to_owned();
    let origin = format!("http://{}", server.address);

    let show = Ask::new("GET", "/api/session").header("Cookie", cookie.as_str());
    assert_eq!(show.send(server.address).await.json()["owner"], "local");

    let close = Ask::new("DELETE", "/api/session").header("Cookie", cookie.as_str());
    assert_eq!(close.send(server.address).await.status, 403, "without an Origin");
    let with_origin = close.clone().header("Origin", origin.as_str());
    assert_eq!(with_origin.send(server.address).await.status, 415, "without a content type");
    let closed = with_origin.header("Content-Type", "application/json").send(server.address).await;
    assert_eq!(closed.status, 204);
    assert!(closed.header("set-cookie").unwrap().contains("max-age=0"));
    assert_eq!(show.send(server.address).await.status, 401);
}

#[tokio::test]
async fn a_wrong_token_opens_nothing() {
    let server = Server::start().await;
    let refused = open("0000").send(server.address).await;
    assert_eq!((refused.status, refused.header("set-cookie")), (401, None));
    for body in ["", "[]", "{}", "{\"token\": 1}", "{\"token\": \"a\", \"more\": 1}"] {
        assert_eq!(Ask::new("POST", "/api/session").body(body).send(server.address).await.status, 400, "{body}");
    }
}

#[tokio::test]
async fn the_token_works_in_both_headers() {
    let server = Server::start().await;
    let show = Ask::new("GET", "/api/session");
    let bearer = format!("Bearer {}", server.token);
    assert_eq!(show.clone().header("Authorization", bearer).send(server.address).await.status, 200);
    assert_eq!(show.clone().header("X-Weir-Token", server.token.as_str()).send(server.address).await.status, 200);
    assert_eq!(show.header("X-Weir-Token", "wrong").send(server.address).await.status, 401);
}

#[tokio::test]
async fn a_code_opens_one_session_in_the_place_of_the_token() {
    let server = Server::start().await;
    let stranger = Ask::new("POST", "/api/session/code").body("{}").send(server.address).await;
    assert_eq!(stranger.status, 401, "a stranger gets none");
    let made = server.ask("POST", "/api/session/code").body("{}").send(server.address).await;
    assert_eq!((made.status, made.json()["expiresInSeconds"].as_u64()), (201, Some(60)));
    let code = made.json()["code"].as_str().unwrap().to_owned();
    let as_token = Ask::new("GET", "/api/session").header("X-Weir-Token", code.as_str());
    assert_eq!(as_token.send(server.address).await.status, 401, "it is no token");
    let opened = open(&code).send(server.address).await;
    assert_eq!((opened.status, opened.json()["owner"].as_str()), (200, Some("local")));
    assert!(opened.header("set-cookie").is_some());
    assert_eq!(open(&code).send(server.address).await.status, 401, "it was spent");
}
