//! The text of an HTML page: what a reader would see of it, without its looks.
//!
//! It goes over the page once and keeps no tree, so it takes time and memory in proportion to the page whatever is
//! in it. A parser by the standard (html5ever) would bring two dozen crates to find out what a page without end tags
//! looks like; for its text that makes next to no difference.

/// What a page says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) text: String,
}

/// Elements whose content is not text for a reader.
const PASSED_OVER: [&str; 9] =
    ["script", "style", "noscript", "template", "svg", "iframe", "object", "textarea", "select"];
/// Elements that stand on lines of their own.
const BLOCKS: [&str; 34] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "ul",
    "caption",
];

/// Reads a page.
pub(super) fn read(html: &str) -> Page {
    let mut writer = Writer::default();
    let mut title = None;
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        writer.text(&rest[..at]);
        rest = &rest[at..];
        let Some(tag) = Tag::at(rest) else {
            rest = past_markup(rest, &mut writer);
            continue;
        };
        rest = &rest[tag.bytes..];
        match tag.name.as_str() {
            "title" if !tag.is_end => {
                let (inside, after) = up_to_end(rest, "title");
                title = title.or_else(|| Some(one_line(inside)).filter(|title| !title.is_empty()));
                rest = after;
            }
            name if !tag.is_end && !tag.is_closed && PASSED_OVER.contains(&name) => {
                rest = up_to_end(rest, name).1;
            }
            "pre" => {
                writer.paragraph();
                writer.is_exact = !tag.is_end;
            }
            "br" => writer.line_break(),
            "li" if !tag.is_end => {
                writer.line();
                writer.text("- ");
            }
            "tr" | "li" => writer.line(),
            "td" | "th" if tag.is_end => writer.text(" "),
            name if BLOCKS.contains(&name) => writer.paragraph(),
            _ => {}
        }
    }
    writer.text(rest);
    Page { title, text: writer.finish() }
}

/// A tag at the beginning of a text.
struct Tag {
    name: String,
    is_end: bool,
    /// `<br/>`
    is_closed: bool,
    /// Its length.
    bytes: usize,
}

impl Tag {
    fn at(text: &str) -> Option<Self> {
        let inside = text.strip_prefix('<')?;
        let (is_end, inside) = match inside.strip_prefix('/') {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let name_end = inside.find(|c: char| c.is_whitespace() || matches!(c, '/' | '>')).unwrap_or(inside.len());
        let name = inside[..name_end].to_ascii_lowercase();
        // A `>` inside a quoted value does not end the tag.
        let mut quote = None;
        let mut last = ' ';
        for (at, c) in inside[name_end..].char_indices() {
            match quote {
                Some(open) if c == open => quote = None,
                None if c == '>' => {
                    let bytes = text.len() - inside.len() + name_end + at + 1;
                    return Some(Self { name, is_end, is_closed: last == '/', bytes });
                }
                // Only after `=` is a quote one.
                None if matches!(c, '"' | '\'') && last == '=' => quote = Some(c),
                Some(_) | None => {}
            }
            if !c.is_whitespace() {
                last = c;
            }
        }
        // It never ends: neither does what it would hide.
        Some(Self { name, is_end, is_closed: false, bytes: text.len() })
    }
}

/// What follows a comment, a declaration or a `<` that is only a character.
fn past_markup<'t>(text: &'t str, writer: &mut Writer) -> &'t str {
    let (from, end) = match text {
        _ if text.starts_with("<!--") => (4, "-->"),
        _ if text.starts_with("<![CDATA[") => (9, "]]>"),
        _ if text.starts_with("<!") || text.starts_with("<?") || text.starts_with("</") => (2, ">"),
        _ => {
            writer.text("<");
            return &text[1..];
        }
    };
    text[from..].find(end).map_or("", |at| &text[from + at + end.len()..])
}

/// What is before the end tag of this name, and what is after it.
fn up_to_end<'t>(text: &'t str, name: &str) -> (&'t str, &'t str) {
    let mut from = 0;
    while let Some(at) = text[from..].find("</") {
        let at = from + at;
        let found = &text.as_bytes()[at + 2..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        let is_its = found.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            && found.get(name.len()).is_none_or(ends);
        if is_its {
            let after = Tag::at(&text[at..]).map_or("", |tag| &text[at + tag.bytes..]);
            return (&text[..at], after);
        }
        from = at + 2;
    }
    (text, "")
}

fn one_line(text: &str) -> String {
    html_escape::decode_html_entities(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts text together: runs of white space become one space, paragraphs are one empty line apart.
#[derive(Default)]
struct Writer {
    written: String,
    /// Line ends to write before the next text.
    lines: usize,
    space: bool,
    is_exact: bool,
}

impl Writer {
    fn text(&mut self, text: &str) {
        let text = html_escape::decode_html_entities(text);
        if self.is_exact {
            self.begin();
            self.written.push_str(&text);
            return;
        }
        for c in text.chars() {
            if c.is_whitespace() {
                self.space = true;
                continue;
            }
            self.begin();
            self.written.push(c);
        }
    }

    /// Writes what is due before a character.
    fn begin(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let space = std::mem::take(&mut self.space);
        if self.written.is_empty() {
            return;
        }
        if lines > 0 {
            self.written.extend(std::iter::repeat_n('\n', lines));
        } else if space {
            self.written.push(' ');
        }
    }

    fn line_break(&mut self) {
        self.lines = (self.lines + 1).min(2);
        self.space = false;
    }

    /// What comes next begins a line.
    fn line(&mut self) {
        self.lines = self.lines.max(1);
        self.space = false;
    }

    fn paragraph(&mut self) {
        self.lines = 2;
        self.space = false;
    }

    fn finish(mut self) -> String {
        let end = self.written.trim_end().len();
        self.written.truncate(end);
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(html: &str) -> String {
        read(html).text
    }

    #[test]
    fn a_page_reads_as_it_looks() {
        let page = read(
            "<!DOCTYPE html><html><head><title>\n News &amp; more </title><style>p { color: red }</style>\
             <script>if (a < b) { document.write('<p>no</p>') }</script></head>\
             <body><!-- <p>hidden</p> --><h1>News</h1><p>Today   it\n<b>rain</b>s &lt;a lot&gt;.</p>\
             <ul><li>one<li>two</ul>line<br>next<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>\
             <pre>x\n  y</pre></body></html>",
        );
        assert_eq!(page.title.as_deref(), Some("News & more"));
        let expected = "News\n\nToday it rains <a lot>.\n\n- one\n- two\n\nline\nnext\n\na b\nc\n\nx\n  y";
        assert_eq!(page.text, expected);
    }

    #[test]
    fn broken_markup_loses_no_text_and_hides_no_code() {
        assert_eq!(text("a < b and 1<2"), "a < b and 1<2");
        assert_eq!(text("<p title=\"a > b\">seen</p>"), "seen");
        assert_eq!(text("<p title='it'>seen"), "seen");
        assert_eq!(text("<SCRIPT>hidden</Script >seen"), "seen");
        assert_eq!(text("<script>hidden"), "");
        assert_eq!(text("<script>'</scripting>'</script>seen"), "seen");
        assert_eq!(text("seen<p never ends"), "seen");
        assert_eq!(text("<![CDATA[x]]>seen<?php echo ?>"), "seen");
        assert_eq!(text("&unknown; &#x263a; &amp"), "&unknown; ☺ &amp");
    }

    #[test]
    fn hostile_pages_take_time_in_proportion() {
        let began = std::time::Instant::now();
        for page in [
            "<".repeat(1_000_000),
            "</script".repeat(200_000),
            "<p a='".repeat(200_000),
            format!("<script>{}", "</script<".repeat(200_000)),
            "&".repeat(1_000_000),
        ] {
            read(&page);
        }
        assert!(began.elapsed() < std::time::Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
