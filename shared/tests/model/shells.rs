//! Commands with values, through every shell of this machine: no value is ever read as syntax.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use weir_shared::reference::{Dialect, Resolved, Syntax, parse};
use weir_shared::shell::places;

use crate::commands::resolved;

/// A shell with the words that make it behave in one of its ways.
pub(crate) type Shell = &'static [&'static str];

const SHELLS: [Shell; 6] =
    [&["/bin/sh"], &["/bin/dash"], &["/bin/bash"], &["/bin/bash", "--posix"], &["/bin/busybox", "ash"], &["/bin/mksh"]];

/// Those that this machine has; `/bin/sh` once only.
pub(crate) fn shells() -> Vec<Shell> {
    let real = |shell: &Shell| Path::new(shell[0]).canonicalize().unwrap_or_default();
    let is_known = |shell: &Shell| SHELLS[1..].iter().any(|other| other.len() == 1 && real(other) == real(shell));
    let is_here = |shell: &Shell| Path::new(shell[0]).exists() && !(shell[0] == "/bin/sh" && is_known(shell));
    let here: Vec<Shell> = SHELLS.into_iter().filter(is_here).collect();
    assert!(!here.is_empty(), "no shell");
    here
}

/// How long a shell may take, on a machine that has much else to do.
const LIMIT: Duration = Duration::from_mins(1);

/// What a shell prints for a resolved command, and whether it ended well, in an empty environment but for the
/// variables of the command.
fn run(shell: Shell, resolved: &Resolved, directory: &Path) -> (Vec<u8>, bool, String) {
    let child = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", resolved.call["command"].as_str().unwrap()])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(resolved.environment.iter().cloned())
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let (tell, told) = channel();
    let waiting = thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = told.recv_timeout(LIMIT) else {
        let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        panic!("{shell:?} did not end within {LIMIT:?}: {resolved:?}");
    };
    waiting.join().unwrap().unwrap();
    let output = output.unwrap();
    (output.stdout, output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What a shell prints for a command that it must accept.
pub(crate) fn output(shell: Shell, resolved: &Resolved) -> Vec<u8> {
    let (printed, is_success, said) = run(shell, resolved, Path::new("/"));
    assert!(is_success, "{shell:?}: {resolved:?}: {said}");
    printed
}

/// Commands with the reference `inputs.v`, and what they print around its value.
const PLACES: [(&str, &str, &str); 40] = [
    ("printf %s {{inputs.v}}", "", ""),
    ("printf %s a{{inputs.v}}b", "a", "b"),
    ("printf %s \"{{inputs.v}}\"", "", ""),
    ("printf %s \"a b{{inputs.v}}c d\"", "a b", "c d"),
    ("printf %s '{{inputs.v}}'", "", ""),
    ("printf %s 'a \"b{{inputs.v}}c\" d'", "a \"b", "c\" d"),
    ("printf %s '\\{{inputs.v}}${{inputs.v}}' | head -c 1; printf %s '${{inputs.v}}'", "\\$", ""),
    ("printf '%s\\n' {{inputs.v}}", "", "\n"),
    ("x={{inputs.v}}; printf %s \"$x\"", "", ""),
    ("x=\"a{{inputs.v}}\" y='b'; printf %s \"$x$y\"", "a", "b"),
    ("true && printf %s 'x'\"y\"{{inputs.v}}'z' | cat", "xy", "z"),
    ("# it's {{inputs.v}}\nprintf %s {{inputs.v}}", "", ""),
    ("printf %s {{inputs.v}} # \"{{inputs.v}}", "", ""),
    ("printf %s a\u{a0}#{{inputs.v}}", "a\u{a0}#", ""),
    ("printf %s \"a\"#'b'{{inputs.v}}", "a#b", ""),
    ("case {{inputs.v}} in {{inputs.v}}) printf '%s' \"it's {{inputs.v}}\";; esac", "it's ", ""),
    ("case {{inputs.v}} in no) ;; (x|'{{inputs.v}}'|y) printf %s {{inputs.v}};; esac", "", ""),
    ("if [ {{inputs.v}} = {{inputs.v}} ]; then printf %s {{inputs.v}}#; fi", "", "#"),
    ("cat <<E\na {{inputs.v}} b\nE\n", "a ", " b\n"),
    ("cat <<E\n\"{{inputs.v}}\" it's \\$x \\\\ \\` '\nE", "\"", "\" it's $x \\ ` '\n"),
    ("cat <<-E\n\t\t{{inputs.v}}\n\tE\n", "", "\n"),
    ("cat <<A; cat <<'B'; printf %s {{inputs.v}}\n$(printf %s '1)')\nA\nit's $( \" \\\nB\n", "1)\nit's $( \" \\\n", ""),
    ("cat <<E | cat\n$(printf %s {{inputs.v}}; echo .)\nE", "", ".\n"),
    ("x=$(cat <<E\n{{inputs.v}}.\nE\n); printf %s \"$x\"", "", "."),
    ("printf %s \"$(printf %s {{inputs.v}}; echo .)\"", "", "."),
    ("printf %s \"$(printf %s \"'$(printf '%s' '{{inputs.v}}' ; echo '.)')\"; echo .)\"", "'", ".)."),
    ("printf %s `printf %s \\`echo '(it'\\`\")\"`{{inputs.v}}", "(it)", ""),
    ("printf %s \"`printf %s \\\"a b\\\"`{{inputs.v}}\"", "a b", ""),
    ("printf %s $((1 + (2 * 3)))\"${x:-a}${x:-$(echo '}')}\"{{inputs.v}}", "7a}", ""),
    ("printf %s ${x:-'}'\"a b\"}\\'{{inputs.v}}\\\"", "}a b'", "\""),
    ("printf %s a\\\nb{{inputs.v}}\\\nc", "ab", "c"),
    ("printf %s \"a\\\nb{{inputs.v}}\\\nc\"", "ab", "c"),
    ("f() { printf %s \"$1\"; }; f {{inputs.v}}", "", ""),
    ("f() (printf %s {{inputs.v}}\n)\nf; ! false", "", ""),
    ("for x in {{inputs.v}}; do printf %s \"$x\"; done", "", ""),
    ("while :; do printf %s {{inputs.v}}; break; done; until :; do :; done", "", ""),
    ("{ ( printf %s {{inputs.v}} ) ; } 2>&1 | cat", "", ""),
    ("set -- {{inputs.v}} b; printf '%s|%s' \"$@\"", "", "|b"),
    ("sh -c 'printf %s \"$1\"' sh {{inputs.v}}", "", ""),
    ("printf %s $'a' | cat >/dev/null; V={{inputs.v}} awk 'BEGIN { printf \"%s\", ENVIRON[\"V\"] }'", "", ""),
];

const HOSTILE: [&str; 32] = [
    "plain",
    "two words",
    "  spaces  ",
    "; touch /tmp/weir-was-here",
    "$(id)",
    "`id`",
    "${HOME}",
    "$HOME",
    "$((1+1))",
    "a[$(id>&2)]",
    "\"; id; \"",
    "'; id; '",
    "'\"'\"'",
    "\\",
    "\\n\\",
    "\\\"",
    "a\nb\n.",
    "\nE\nid\n",
    "E",
    "*",
    "~",
    "{a,b}",
    "!!",
    "| cat /etc/passwd &",
    "<(id) > /dev/null",
    "<<E",
    ") ;; esac; id #",
    "}; id; {",
    "$'\\x41'",
    "#no comment",
    "\u{1}\u{7f}\r\t",
    "ünï – 😀",
];

fn expected(row: (&str, &str, &str), value: &str) -> String {
    format!("{}{value}{}", row.1, row.2)
}

#[test]
fn a_value_is_a_value_in_every_place() {
    for value in HOSTILE {
        for row in PLACES {
            let resolved = resolved(row.0, &[("v", value)]).unwrap_or_else(|said| panic!("{}: {said}", row.0));
            for shell in shells() {
                let printed = output(shell, &resolved);
                assert_eq!(String::from_utf8_lossy(&printed), expected(row, value), "{shell:?}: {}: {value}", row.0);
            }
        }
    }
}

fn hostile_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~\t\n]{0,24}",
        "[;&|<>()$`\\\\\"'*?#~=!{}\\[\\] \na-bE]{0,16}",
        "(\\PC|[^\\PC]){0,12}",
        (0..HOSTILE.len()).prop_map(|at| HOSTILE[at].to_owned()),
    ]
    .prop_filter("no environment holds NUL", |text| !text.contains('\0'))
}

/// What a command can stand in: text before and after it, and what is printed before and after what it prints.
const AROUND: [(&str, &str, &str, &str); 25] = [
    ("{ ", "\n}", "", ""),
    ("( ", "\n)", "", ""),
    ("if true; then ", "\nfi", "", ""),
    ("if false\nthen :; elif :; then ", "\nelse echo no\nfi", "", ""),
    ("for i in 1; do ", "\ndone", "", ""),
    ("while :; do ", "\nbreak\ndone", "", ""),
    ("case a in (b|c) ;; a) ", "\n;; esac", "", ""),
    ("f() { ", "\n}\nf", "", ""),
    // With a blank, since `$((` is arithmetic.
    ("printf %s \"$( ", "\nprintf x)\"", "", "x"),
    ("printf \"%s\" \"a 'b $(# it's\n", "\necho ')')\"", "a 'b ", ")"),
    ("true && ", "", "", ""),
    ("printf x | { ", "\n}", "", ""),
    ("{ ", "\n} | cat", "", ""),
    ("# it's \"a `b $( <<X\n", "", "", ""),
    ("{ ", "\n} # it's \"a `b $( <<X", "", ""),
    (": ${x:-a 'b}'} \"${x%\\}}\" $x$?$#$; ", "", "", ""),
    (": `echo '\"' \\`echo '('\\` #'` ; ", "", "", ""),
    ("cat <<'X'\nit's $( ` \" \\\nX\n", "", "it's $( ` \" \\\n", ""),
    ("cat <<-\\X\n\t(\n\tX\n", "", "(\n", ""),
    ("cat <<X\n\"'$(echo ')')\\\njoined\nX\n", "", "\"')joined\n", ""),
    (": $((1 + (y << 2))) ; ", "", "", ""),
    (": \\' \\\" \\# \\\\ a\\\n; ", "", "", ""),
    ("printf %s $'a\\tb' > /dev/null; ", "", "", ""),
    ("", "\nprintf %s ';'", "", ";"),
    ("printf %s '{% if'; ", "", "{% if", ""),
];

/// Commands that print a value.
const INNERMOST: [(&str, &str, &str); 8] = [
    ("printf %s {{inputs.v}}", "", ""),
    ("printf %s \"{{inputs.v}}\"", "", ""),
    ("printf %s '{{inputs.v}}'", "", ""),
    ("printf %s \"$(printf %s '{{inputs.v}}'; echo .)\"", "", "."),
    ("cat <<E\n>{{inputs.v}}<\nE", ">", "<\n"),
    ("cat <<-E\n\t{{inputs.v}}<\n\tE", "", "<\n"),
    ("x={{inputs.v}}; printf %s \"$x\"", "", ""),
    ("for x in a\\ b {{inputs.v}}; do printf %s \"$x\"; done", "a b", ""),
];

/// A command, with what it prints before and after the value.
fn nested(innermost: usize, around: &[usize]) -> (String, String, String) {
    let (command, before, after) = INNERMOST[innermost];
    let start = (command.to_owned(), before.to_owned(), after.to_owned());
    around.iter().fold(start, |(command, before, after), at| {
        let (opens, closes, prints, then) = AROUND[*at];
        (format!("{opens}{command}{closes}"), format!("{prints}{before}"), format!("{after}{then}"))
    })
}

proptest! {
    #![proptest_config(same_cases())]

    #[test]
    fn no_value_becomes_syntax(value in hostile_text(), place in 0..PLACES.len()) {
        let row = PLACES[place];
        // In `[ a = b ]` values such as `(` or `!` are operators to the program `[`, as they would be typed by hand.
        prop_assume!(!row.0.contains("[ {{") || value.chars().all(char::is_alphanumeric));
        let resolved = resolved(row.0, &[("v", &value)]).unwrap();
        for shell in shells() {
            let printed = output(shell, &resolved);
            prop_assert_eq!(String::from_utf8_lossy(&printed), expected(row, &value), "{:?}", shell);
        }
    }

    #[test]
    fn a_value_is_found_at_any_depth(
        value in hostile_text(),
        innermost in 0..INNERMOST.len(),
        around in prop::collection::vec(0..AROUND.len(), 0..5),
    ) {
        let (command, before, after) = nested(innermost, &around);
        let resolved = resolved(&command, &[("v", &value)]);
        // bash reads this wrongly, so it is refused.
        prop_assume!(!resolved.as_ref().is_err_and(|said| said.contains("follows a here-document within `$( )`")));
        let resolved = resolved.map_err(TestCaseError::fail)?;
        for shell in shells() {
            let printed = output(shell, &resolved);
            prop_assert_eq!(String::from_utf8_lossy(&printed), format!("{before}{value}{after}"), "{:?}: {}", shell, command);
        }
    }
}

/// Pieces of commands that are put together without sense.
const SCRAPS: [&str; 67] = [
    "{{inputs.v}}",
    "{{inputs.v}}",
    "{{inputs.v}}",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "|",
    "&&",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "$(",
    ")",
    "(",
    "${x",
    "${x:-",
    "}",
    "$((",
    "))",
    "$'",
    "$[",
    "]",
    "<<E\n",
    "<<'E'\n",
    "<<-E\n",
    "\nE\n",
    "E",
    "#",
    "x=",
    "x",
    "$x",
    "\"$x\"",
    "[ ",
    " ]",
    "[[ ",
    "printf %s ",
    "printf ",
    "echo ",
    ": ",
    "eval ",
    "sh -c ",
    "sh ",
    "set -- ",
    "\"$1\"",
    "for x in ",
    "; do ",
    "; done",
    "case x in ",
    ") ",
    ";; esac",
    "{ ",
    "; }",
    "f() ",
    "f ",
    "if :; then ",
    "; fi",
    "read x ",
    "test ",
    "a[",
    "command ",
    " > ",
    " >&",
    "=",
];

fn scraps() -> impl Strategy<Value = String> {
    prop::collection::vec(0..SCRAPS.len(), 1..14).prop_map(|all| all.into_iter().map(|at| SCRAPS[at]).collect())
}

/// Each leaves a file behind wherever it is read as syntax, as an index or as a word of code.
const BAITS: [&str; 6] = [
    "$(>was-here)`>was-here`",
    ";>was-here;#",
    "';>was-here;'\";>was-here;\"",
    "\nE\n>was-here\n",
    "a[$(>was-here)]",
    "-v",
];

fn bait_directory() -> PathBuf {
    let directory = std::env::temp_dir().join(format!("weir-bait-{}-{:?}", std::process::id(), thread::current().id()));
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// The same cases at every run, so that a run tells of the change under test; `WEIR_SHELL_CASES=20000` makes it a long
/// search among others.
fn search() -> ProptestConfig {
    let max_global_rejects = 4_000_000;
    match std::env::var("WEIR_SHELL_CASES").ok().and_then(|count| count.parse().ok()) {
        Some(cases) => ProptestConfig { cases, max_global_rejects, ..ProptestConfig::default() },
        None => ProptestConfig { cases: 400, max_global_rejects, ..same_cases() },
    }
}

/// Bash loses a line of a substitution now and then that holds a here-document and another substitution, so what it
/// prints for commands nested at random is not to depend on the run.
fn same_cases() -> ProptestConfig {
    ProptestConfig { cases: 192, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(search())]

    /// Whatever is accepted is safe: a command without sense may fail, but never by running a value.
    #[test]
    fn what_is_accepted_runs_no_value(command in scraps(), baits in prop::collection::vec(0..BAITS.len(), 1..4)) {
        let mut command = command;
        let names = ["a", "b", "c"];
        for at in 0.. {
            let name = names[at % baits.len()];
            let Some(found) = command.find("{{inputs.v}}") else { break };
            command.replace_range(found..found + "{{inputs.v}}".len(), &format!("{{{{inputs.{name}}}}}"));
        }
        let values: Vec<(&str, &str)> = baits.iter().zip(names).map(|(bait, name)| (name, BAITS[*bait])).collect();
        let resolved = resolved(&command, &values);
        prop_assume!(resolved.as_ref().is_ok_and(|resolved| !resolved.environment.is_empty()));
        let directory = bait_directory();
        for shell in shells() {
            run(shell, resolved.as_ref().unwrap(), &directory);
            let is_eaten = directory.join("was-here").exists();
            let _ = std::fs::remove_file(directory.join("was-here"));
            prop_assert!(!is_eaten, "{shell:?}: {command:?} {values:?}");
        }
        let _ = std::fs::remove_dir_all(&directory);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// No text is too strange to be read or refused.
    #[test]
    fn the_parser_ends_on_any_text(text in prop_oneof![
        "(\\PC|[^\\PC]){0,60}",
        prop::collection::vec(0..SCRAPS.len(), 0..60).prop_map(|all| all.into_iter().map(|at| SCRAPS[at]).collect::<String>()),
        (0..SCRAPS.len(), 0..200_usize).prop_map(|(at, times)| SCRAPS[at].repeat(times) + "{{inputs.v}}"),
    ]) {
        let template = parse(&text, Dialect::Flow, Syntax::Shell);
        let count = template.values().count();
        match places(&template) {
            Ok(places) => prop_assert_eq!(places.len(), count),
            Err(refusals) => {
                let is_in_text = |at: usize| text.is_char_boundary(at);
                let are_in_text = refusals.iter().all(|it| is_in_text(it.range.start) && is_in_text(it.range.end));
                prop_assert!(are_in_text && refusals.iter().all(|it| it.place <= text.len()));
                prop_assert!(!refusals.is_empty() && refusals.len() <= count);
            }
        }
    }
}
