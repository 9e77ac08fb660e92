//! The page's files, and the page itself at every address of its own.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use warp::http::{HeaderMap, StatusCode};
use warp::path::FullPath;
use warp::reply::Response;

use super::answer::{Answer, bytes_of, empty, settle};
use super::problem::ApiError;
use crate::assets::{Encoding, Keep, Page, PageFile};

/// Every path outside `/api`.
pub(super) fn routes(page: Arc<Page>) -> BoxedFilter<(Response,)> {
    outside_api()
        .and(warp::get())
        .and(warp::header::headers_cloned())
        .then(move |path: FullPath, headers: HeaderMap| {
            let page = page.clone();
            async move { settle(file(page, path, headers).await) }
        })
        .boxed()
}

fn outside_api() -> BoxedFilter<(FullPath,)> {
    warp::path::full()
        .and_then(|path: FullPath| async move {
            let inside = path.as_str() == "/api" || path.as_str().starts_with("/api/");
            if inside { Err(warp::reject::not_found()) } else { Ok(path) }
        })
        .boxed()
}

async fn file(page: Arc<Page>, path: FullPath, headers: HeaderMap) -> Answer {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    // A page in a directory is read from disk.
    let found = tokio::task::spawn_blocking(move || page.find(path.as_str(), &accepted))
        .await
        .map_err(|error| ApiError::Internal { reason: error.to_string() })?;
    let Some(file) = found else { return Err(ApiError::UnknownPath) };
    let seen = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    Ok(answer(file, seen))
}

fn answer(file: PageFile, seen: Option<&str>) -> Response {
    let (cache, tag) = match &file.keep {
        Keep::ForEver => (HeaderValue::from_static("public, max-age=31536000, immutable"), None),
        Keep::Ask { tag } => (HeaderValue::from_static("no-cache"), Some(format!("\"{tag}\""))),
    };
    let known = tag.as_deref().is_some_and(|tag| seen.is_some_and(|seen| seen.split(',').any(|one| one.trim() == tag)));
    let mut response =
        if known { empty(StatusCode::NOT_MODIFIED) } else { bytes_of(StatusCode::OK, file.content_type, file.bytes) };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, cache);
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if let Some(tag) = tag.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        headers.insert(ETAG, tag);
    }
    match file.encoding {
        Encoding::Identity => {}
        Encoding::Gzip => drop(headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"))),
        Encoding::Brotli => drop(headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"))),
    }
    response
}
