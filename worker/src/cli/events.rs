//! Reads a stream of server-sent events.

use std::io::{self, BufRead};

/// One frame: what stood between two empty lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: Option<String>,
    pub(super) event: String,
    pub(super) data: String,
}

/// The next frame that has data; comments and hints about reconnecting are passed over. `None` at the end, also in
/// the middle of a frame: what is incomplete was never sent.
pub(super) fn next_frame(reader: &mut impl BufRead) -> io::Result<Option<Frame>> {
    let mut frame = Frame::default();
    let mut line = String::new();
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Ok(None);
        }
        let text = line.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            if frame.data.is_empty() {
                frame = Frame::default();
                continue;
            }
            return Ok(Some(frame));
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => frame.id = Some(value.to_owned()),
            "event" => value.clone_into(&mut frame.event),
            "data" => {
                if !frame.data.is_empty() {
                    frame.data.push('\n');
                }
                frame.data.push_str(value);
            }
            // `retry`, comments (an empty field) and what later versions may add.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_and_the_rest_is_passed_over() {
        let stream = "retry: 1000\n\n: still here\n\nid: 1\nevent: run_created\ndata: {\"a\":\ndata: 1}\n\nevent:x\r\ndata:y\r\n\r\nid: 9\ndata: cut";
        let mut reader = stream.as_bytes();
        let first = next_frame(&mut reader).unwrap().unwrap();
        assert_eq!(first, Frame { id: Some("1".into()), event: "run_created".into(), data: "{\"a\":\n1}".into() });
        let second = next_frame(&mut reader).unwrap().unwrap();
        assert_eq!(second, Frame { id: None, event: "x".into(), data: "y".into() });
        assert_eq!(next_frame(&mut reader).unwrap(), None);
    }
}
