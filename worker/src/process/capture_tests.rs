use std::fs;

use super::*;

fn capture(memory_chars: usize, file_bytes: u64) -> (tempfile::TempDir, Capture) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("output/0.1.stdout");
    (directory, Capture::new(OutputLimits { memory_chars, file_bytes }, path))
}

fn spilled(directory: &tempfile::TempDir) -> Vec<u8> {
    fs::read(directory.path().join("output/0.1.stdout")).unwrap()
}

#[test]
fn short_output_is_whole_and_silent_output_makes_no_file() {
    let (directory, mut short) = capture(100, 100);
    short.push(b"one ");
    short.push("zwö".as_bytes());
    let captured = short.finish();
    assert_eq!((captured.text.as_str(), captured.truncated, captured.bytes), ("one zwö", false, 8));
    assert_eq!(spilled(&directory), "one zwö".as_bytes());
    let (directory, silent) = capture(100, 100);
    assert_eq!(silent.finish(), Captured::default());
    assert!(!directory.path().join("output").exists());
}

#[test]
fn long_output_keeps_its_beginning_and_end_within_the_limit() {
    let (_directory, mut long) = capture(1_000, 1_000_000);
    for line in 0..20_000 {
        long.push(format!("line {line}\n").as_bytes());
    }
    let captured = long.finish();
    assert!(captured.truncated);
    assert_eq!(captured.text.chars().count(), 1_000);
    assert!(captured.text.starts_with("line 0\nline 1\n") && captured.text.ends_with("line 19999\n"));
    assert!(captured.text.contains("\n[… output cut here"));
}

#[test]
fn the_limit_counts_characters_and_cuts_none_in_two() {
    for text in ["é".repeat(500), "𝄞".repeat(500), "a𝄞é".repeat(200)] {
        for limit in [0, 1, 7, 100, 250, 499] {
            let (_directory, mut capture) = capture(limit, 1_000_000);
            for piece in text.as_bytes().chunks(3) {
                capture.push(piece);
            }
            let captured = capture.finish();
            assert!(captured.truncated, "{limit}");
            assert_eq!(captured.text.chars().count(), limit);
            assert!(!captured.text.contains('\u{fffd}'), "{limit}: {}", captured.text);
        }
    }
    let (_directory, mut exact) = capture(500, 1_000_000);
    exact.push("é".repeat(500).as_bytes());
    assert!(!exact.finish().truncated);
}

#[test]
fn bytes_that_are_not_utf_8_stay_in_the_file_and_are_replaced_in_the_text() {
    let (directory, mut capture) = capture(100, 100);
    capture.push(b"a\xff\xfeb\n");
    assert_eq!(spilled(&directory), b"a\xff\xfeb\n");
    assert_eq!(capture.finish().text, "a\u{fffd}\u{fffd}b\n");
}

#[test]
fn what_passes_the_file_limit_is_counted_and_dropped() {
    let (directory, mut capture) = capture(8, 10);
    capture.push(b"0123456");
    capture.push(b"789abcdef");
    capture.push(b"ghi");
    let captured = capture.finish();
    assert_eq!((captured.bytes, captured.dropped, captured.error), (19, 9, None));
    assert_eq!(spilled(&directory), b"0123456789");
    assert_eq!(captured.text, "012345hi");
}

#[test]
fn memory_stays_bounded_whatever_comes() {
    let (_directory, mut capture) = capture(65_536, 1);
    let piece = vec![b'x'; 1024 * 1024];
    for _ in 0..64 {
        capture.push(&piece);
    }
    let held = capture.head.capacity() + capture.tail.capacity();
    assert!(held <= 1024 * 1024, "{held}");
    assert_eq!(capture.seen(), 64 * 1024 * 1024);
}

#[test]
fn a_file_that_cannot_be_written_is_said_and_does_not_stop_the_capture() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("output"), "in the way").unwrap();
    let path = directory.path().join("output/0.1.stdout");
    let mut capture = Capture::new(OutputLimits { memory_chars: 100, file_bytes: 100 }, path);
    capture.push(b"kept ");
    capture.push(b"all the same");
    let captured = capture.finish();
    assert_eq!(captured.text, "kept all the same");
    assert_eq!(captured.dropped, 17);
    assert!(captured.error.is_some_and(|error| error.contains("0.1.stdout: ")));
}

#[test]
fn a_full_disk_is_said() {
    let limits = OutputLimits { memory_chars: 100, file_bytes: 100 };
    let mut capture = Capture::new(limits, "/dev/full".into());
    capture.push(b"kept in memory");
    let captured = capture.finish();
    assert_eq!((captured.text.as_str(), captured.dropped), ("kept in memory", 14));
    assert!(captured.error.is_some_and(|error| error.starts_with("/dev/full: No space left")));
}
