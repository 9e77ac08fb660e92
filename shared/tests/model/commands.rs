//! References in commands: a value is one piece of one word in every quoting place, through real shells.

use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use serde_json::json;
use weir_shared::reference::{Resolved, Unresolved, resolve_args};

use crate::catalog::{catalog, checked};
use crate::references::{Known, step};

fn resolved(command: &str, values: &[(&str, &str)]) -> Result<Resolved, String> {
    let known = Known {
        inputs: values.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect(),
        ..Known::default()
    };
    let step = step("execute_command", &json!({ "command": command }));
    resolve_args(&step, catalog().get("execute_command").unwrap(), &known).map_err(|error| match error {
        Unresolved::Failed { message } => message,
        Unresolved::Skipped { step } => format!("skipped {step}"),
    })
}

/// What a shell prints for a resolved command, in an empty environment but for its variables.
fn output(shell: &str, resolved: &Resolved) -> Vec<u8> {
    let output = Command::new(shell)
        .args(["-c", resolved.call["command"].as_str().unwrap()])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .envs(resolved.environment.iter().cloned())
        .current_dir("/")
        .output()
        .unwrap();
    assert!(output.status.success(), "{shell}: {resolved:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// `/bin/sh`, and each of dash and bash that this machine has.
fn shells() -> Vec<&'static str> {
    ["/bin/sh", "/bin/dash", "/bin/bash"].into_iter().filter(|shell| Path::new(shell).exists()).collect()
}

/// Commands with one reference each, and what they print around its value.
const PLACES: [(&str, &str, &str); 14] = [
    ("printf %s {{inputs.v}}", "", ""),
    ("printf %s a{{inputs.v}}b", "a", "b"),
    ("printf %s \"{{inputs.v}}\"", "", ""),
    ("printf %s \"a b{{inputs.v}}c d\"", "a b", "c d"),
    ("printf %s '{{inputs.v}}'", "", ""),
    ("printf %s 'a \"b{{inputs.v}}c\" d'", "a \"b", "c\" d"),
    ("printf '%s\\n' {{inputs.v}}", "", "\n"),
    ("x={{inputs.v}}; printf %s \"$x\"", "", ""),
    ("true && printf %s 'x'\"y\"{{inputs.v}}'z' | cat", "xy", "z"),
    ("# it's {{inputs.v}}\nprintf %s {{inputs.v}}", "", ""),
    ("printf %s a\u{a0}#{{inputs.v}}", "a\u{a0}#", ""),
    ("printf %s \"a\"#'b'{{inputs.v}}", "a#b", ""),
    ("case {{inputs.v}} in {{inputs.v}}) printf '%s' \"it's {{inputs.v}}\";; esac", "it's ", ""),
    ("if [ {{inputs.v}} = {{inputs.v}} ]; then printf %s {{inputs.v}}#; fi", "", "#"),
];

const HOSTILE: [&str; 22] = [
    "plain",
    "two words",
    "  spaces  ",
    "; touch /tmp/weir-was-here",
    "$(id)",
    "`id`",
    "${HOME}",
    "$HOME",
    "\"; id; \"",
    "'; id; '",
    "'\"'\"'",
    "\\",
    "\\n\\",
    "a\nb\n",
    "*",
    "~",
    "{a,b}",
    "!!",
    "| cat /etc/passwd &",
    "<(id) > /dev/null",
    "#no comment",
    "ünï – 😀",
];

#[test]
fn a_value_is_a_value_in_every_place() {
    for value in HOSTILE {
        for (command, before, after) in PLACES {
            // `[` takes a lone operator for one; that is the program's affair, not the shell's.
            let resolved = resolved(command, &[("v", value)]).unwrap();
            for shell in shells() {
                let expected = format!("{before}{value}{after}");
                assert_eq!(String::from_utf8_lossy(&output(shell, &resolved)), expected, "{shell}: {command}: {value}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_value_becomes_syntax(
        value in prop_oneof!["[ -~\t\n]{0,24}", "[;&|<>()$`\\\\\"'*?#~=!{}\\[\\] \na-b]{0,16}", "\\PC{0,12}"],
        place in 0..PLACES.len(),
    ) {
        prop_assume!(!value.contains('\0'));
        let (command, before, after) = PLACES[place];
        // In `[ a = b ]` values such as `(` or `!` are operators to the program `[`, as they would be typed by hand.
        prop_assume!(!command.contains("[ {{") || value.chars().all(char::is_alphanumeric));
        let resolved = resolved(command, &[("v", &value)]).unwrap();
        for shell in shells() {
            let printed = output(shell, &resolved);
            prop_assert_eq!(String::from_utf8_lossy(&printed), format!("{before}{value}{after}"));
        }
    }
}

#[test]
fn people_see_the_values_and_the_shell_sees_variables() {
    let resolved =
        resolved("echo {{inputs.a}} \"{{inputs.b}}\" '{{inputs.a}}'", &[("a", "x; rm -rf ~"), ("b", "$(id)")]).unwrap();
    assert_eq!(resolved.shown["command"], "echo x; rm -rf ~ \"$(id)\" 'x; rm -rf ~'");
    assert_eq!(resolved.call["command"], "echo \"$WEIR_1\" \"${WEIR_2}\" ''\"$WEIR_1\"''");
    let expected = [("WEIR_1".to_owned(), "x; rm -rf ~".to_owned()), ("WEIR_2".to_owned(), "$(id)".to_owned())];
    assert_eq!(resolved.environment, expected);
}

#[test]
fn a_value_that_no_environment_can_hold_is_an_error() {
    let nul = resolved("echo {{inputs.v}}", &[("v", "a\0b")]).unwrap_err();
    assert!(nul.contains("NUL"), "{nul}");
    let longest = 131_072 - "WEIR_1=".len() - 1;
    let fits = resolved("printf %s {{inputs.v}} | wc -c", &[("v", &"x".repeat(longest))]).unwrap();
    assert_eq!(String::from_utf8_lossy(&output("/bin/sh", &fits)).trim(), longest.to_string());
    let long = resolved("echo {{inputs.v}}", &[("v", &"x".repeat(longest + 1))]).unwrap_err();
    assert!(long.contains("to a file in the run directory"), "{long}");
}

#[test]
fn where_no_value_is_safe_the_command_is_refused_with_what_to_write_instead() {
    for command in [
        "echo `date` {{inputs.v}}",
        "echo $(echo {{inputs.v}})",
        "echo $((1 + {{inputs.v}}))",
        "echo $[{{inputs.v}}]",
        "echo ${x:-{{inputs.v}}}",
        "echo ${{inputs.v}}",
        "echo $'{{inputs.v}}'",
        "cat << EOF\n{{inputs.v}}\nEOF",
        "cat <<{{inputs.v}}",
        "echo \\{{inputs.v}}",
        "echo \"\\{{inputs.v}}\"",
        "echo a\\ b {{inputs.v}}",
        "sh -c 'echo {{inputs.v}}'",
        "bash -c {{inputs.v}}",
        "eval {{inputs.v}}",
        "ssh host {{inputs.v}}",
        "awk '{{inputs.v}}' file",
        "/usr/bin/python3 -c {{inputs.v}}",
        "perl -e {{inputs.v}}",
        "node -e {{inputs.v}}",
        "ls | xargs -I{} echo {{inputs.v}}",
        "find . -name {{inputs.v}}",
        "env {{inputs.v}} true",
        "echo {{inputs.v}} | sh",
        "$SHELL -c {{inputs.v}}",
        "{{inputs.v}}=1 true",
        "export {{inputs.v}}",
        "read {{inputs.v}}",
        "printf -v {{inputs.v}} x",
        "a[{{inputs.v}}]=1",
        "echo 'never closed {{inputs.v}}",
    ] {
        let said = resolved(command, &[("v", "x")]).unwrap_err();
        assert!(said.contains("where no value is safe"), "{command}: {said}");
        let flow = json!({
            "format": 1, "name": "n", "edges": [],
            "inputs": { "type": "object", "properties": { "v": { "type": "string" } } },
            "nodes": [{ "id": "a", "tool": "execute_command", "args": { "command": command } }],
        });
        let findings = checked(&flow.to_string()).findings;
        let finding = findings.iter().find(|it| it.code.as_str() == "shell_context").expect(command);
        assert!(finding.hint.as_deref().is_some_and(|hint| !hint.is_empty()), "{command}");
    }
    for command in ["sh -c 'echo $(date) \\n'", "export X={{inputs.v}}; echo {{inputs.v}}", "echo 'a\\b' {{inputs.v}}"]
    {
        assert!(resolved(command, &[("v", "x")]).is_ok(), "{command}");
    }
}
