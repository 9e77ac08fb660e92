//! References in commands: what people and the shell see of them, and where they are refused.

use serde_json::json;
use weir_shared::reference::{Resolved, Unresolved, resolve_args};

use crate::catalog::{catalog, checked};
use crate::references::{Known, step};
use crate::shells::{output, shells};

pub(crate) fn resolved(command: &str, values: &[(&str, &str)]) -> Result<Resolved, String> {
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
    assert_eq!(String::from_utf8_lossy(&output(shells()[0], &fits)).trim(), longest.to_string());
    let long = resolved("echo {{inputs.v}}", &[("v", &"x".repeat(longest + 1))]).unwrap_err();
    assert!(long.contains("to a file in the run directory"), "{long}");
}

/// Every row: what is said about the first refused reference, and commands that it is said of.
const REFUSED: &[(&str, &[&str])] = &[
    ("right after a backslash", &["echo \\{{inputs.v}}", "echo \"\\{{inputs.v}}\"", "cat <<E\n\\{{inputs.v}}\nE"]),
    ("right after a `$`", &["echo ${{inputs.v}}", "echo \"a${{inputs.v}}\"", "cat <<E\n${{inputs.v}}\nE"]),
    (
        "in `$(( ))`",
        &[
            "echo $((1 + {{inputs.v}}))",
            "echo \"$(( (2) * {{inputs.v}} ))\"",
            "echo $(( $(echo {{inputs.v}}) ))",
            "cat <<E\n$(({{inputs.v}}))\nE",
        ],
    ),
    ("in `${ }`", &["echo ${x:-{{inputs.v}}}", "echo \"${x:={{inputs.v}}}\"", "echo ${x#\"{{inputs.v}}\"}"]),
    (
        "between backticks",
        &["echo `echo {{inputs.v}}`", "echo \"`echo '{{inputs.v}}'`\"", "cat <<E\n`echo {{inputs.v}}`\nE"],
    ),
    ("in `$' '`", &["echo $'{{inputs.v}}'", "echo $'\\t{{inputs.v}}'"]),
    ("in `$\" \"`", &["echo $\"{{inputs.v}}\""]),
    (
        "whose delimiter is quoted",
        &["cat <<'E'\n{{inputs.v}}\nE", "cat <<\\E\n{{inputs.v}}\nE", "cat <<-\"E\"\n\t{{inputs.v}}\n\tE"],
    ),
    ("in a list for an array", &["a=({{inputs.v}})", "a=(x \"{{inputs.v}}\")"]),
    (
        "where a variable's name is",
        &[
            "{{inputs.v}}=1 true",
            "a{{inputs.v}}=1",
            "{{inputs.v}}+=1",
            "for {{inputs.v}} in a; do :; done",
            "env {{inputs.v}}=1 true",
        ],
    ),
    ("where a function's name is", &["{{inputs.v}}() { :; }"]),
    ("beside an index", &["a[{{inputs.v}}]=1", "a[0]={{inputs.v}}"]),
    ("takes a variable's name", &["export {{inputs.v}}", "readonly {{inputs.v}}=1", "local -r x={{inputs.v}}"]),
    (
        "takes a name or arithmetic",
        &[
            "read {{inputs.v}}",
            "unset {{inputs.v}}",
            "let {{inputs.v}}",
            "let x={{inputs.v}}",
            "declare -i x={{inputs.v}}",
            "[[ {{inputs.v}} -eq 1 ]]",
            "getopts {{inputs.v}} x",
            "mapfile -C {{inputs.v}}",
        ],
    ),
    (
        "in code for",
        &[
            "sh -c {{inputs.v}}",
            "sh -c 'echo {{inputs.v}}'",
            "/bin/bash -ec \"echo {{inputs.v}}\"",
            "bash -o pipefail -c {{inputs.v}}",
            "sh -c \"$(cat {{inputs.v}})\"",
            "'s'h -c {{inputs.v}}",
            "\\sh -c {{inputs.v}}",
            "X=1 sh -c {{inputs.v}}",
            "true && { ! sh -c {{inputs.v}}; }",
            "f() { sh -c {{inputs.v}}; }",
            "echo \"$(sh -c {{inputs.v}})\"",
            "awk '{{inputs.v}}' file",
            "awk -F , \"{print {{inputs.v}}}\" file",
            "sed s/a/{{inputs.v}}/",
            "sed -n -e {{inputs.v}} f",
            "jq '.{{inputs.v}}' file",
            "/usr/bin/python3.12 -c {{inputs.v}}",
            "perl -ne {{inputs.v}}",
            "node --eval {{inputs.v}}",
            "ruby -e {{inputs.v}}",
            "php -r {{inputs.v}}",
            "env sh -c {{inputs.v}}",
            "env -i A=1 nice -n 5 timeout 3 sh -c {{inputs.v}}",
            "sudo -u root sh -c {{inputs.v}}",
            "command exec sh -c {{inputs.v}}",
            "ls | xargs -I{} sh -c {{inputs.v}}",
            "find . -exec sh -c {{inputs.v}} \\;",
            "docker exec box sh -c {{inputs.v}}",
        ],
    ),
    (
        "takes for code",
        &[
            "eval {{inputs.v}}",
            "eval \"x={{inputs.v}}\"",
            "trap {{inputs.v}} EXIT",
            "ssh host {{inputs.v}}",
            "command eval {{inputs.v}}",
            "psql -c {{inputs.v}}",
            "echo {{inputs.v}} | bc",
        ],
    ),
    (
        "takes it for code",
        &[
            "echo {{inputs.v}} | sh",
            "echo {{inputs.v}} | cat | sh",
            "sh <<E\n{{inputs.v}}\nE",
            "cat <<E | bash -s\n{{inputs.v}}\nE",
            "bash <<< {{inputs.v}}",
            "{ cat; sh; } <<E\n{{inputs.v}}\nE",
            "echo {{inputs.v}} | { sh; }",
            "echo {{inputs.v}} | python3 -",
            "echo {{inputs.v}} | sh /dev/stdin",
            "echo {{inputs.v}} | env sh",
        ],
    ),
    (
        "takes the file of its code",
        &["sh {{inputs.v}}", "python3 {{inputs.v}}", ". {{inputs.v}}", "sh <(echo {{inputs.v}})"],
    ),
    (
        "in an option of",
        &[
            "sh -c{{inputs.v}}",
            "python3 -c{{inputs.v}}",
            "node --eval={{inputs.v}}",
            "perl -I {{inputs.v}} x.pl",
            "sudo -u {{inputs.v}} id",
        ],
    ),
    (
        "for an option if it began with `-`",
        &["perl -e 1 {{inputs.v}}", "sed 1p {{inputs.v}}", "jq . {{inputs.v}}", "timeout {{inputs.v}} true"],
    ),
    ("an option of `env` that is not known here", &["env -S {{inputs.v}}", "env --split-string={{inputs.v}}"]),
    (
        "beside a program that is not named",
        &[
            "$SHELL -c {{inputs.v}}",
            "\"$x\" {{inputs.v}}",
            "{{inputs.v}} {{inputs.v}}",
            "env {{inputs.v}} {{inputs.v}}",
        ],
    ),
    ("in the input of a program that is not named", &["echo {{inputs.v}} | $x"]),
    ("becomes the program's name", &["$(echo {{inputs.v}})", "\"$(echo {{inputs.v}})\" x"]),
    ("in the input of `xargs`", &["echo {{inputs.v}} | xargs sh -c"]),
    ("takes its format", &["printf {{inputs.v}} x"]),
    ("takes a variable's name", &["printf -v {{inputs.v}} x"]),
    ("by a variable's name", &["[ -v {{inputs.v}} ]"]),
    ("which could be an operator", &["[ {{inputs.v}} {{inputs.v}} ]"]),
    ("where its words could be operators", &["[ $(echo {{inputs.v}}) ]"]),
    ("which together could be `-exec`", &["find {{inputs.v}} {{inputs.v}} -print"]),
    ("whose file names are taken for code", &["find {{inputs.v}} -exec sh -c 'echo {}' \\;"]),
    ("which changes how the rest is read", &["alias x=y\necho {{inputs.v}}", "shopt -s extglob; echo {{inputs.v}}"]),
    (
        "whose value is taken for code",
        &["PS4={{inputs.v}} sh -x f", "export BASH_ENV={{inputs.v}}", "env BASH_ENV={{inputs.v}} bash f"],
    ),
    (
        "whose value is taken for code in",
        &[
            "x={{inputs.v}}; echo $((x))",
            "x={{inputs.v}}; y=$x; echo $((1 + $y))",
            "x={{inputs.v}}; eval \"echo $x\"",
            "x={{inputs.v}}\nsh -c \"echo $x\"",
            "for x in {{inputs.v}}; do sh -c \"$x\"; done",
            "x=$(echo {{inputs.v}}); echo ${a[x]}",
            "echo {{inputs.v}} | { read -r x; echo $((x + 1)); }",
            "set -- {{inputs.v}}; eval \"$1\"",
            "f() { eval \"$1\"; }; f {{inputs.v}}",
        ],
    ),
    ("whose value is taken for code as a program's name", &["x={{inputs.v}}; $x y"]),
    ("(line 1, column 6: the single quote is never closed)", &["echo 'never closed {{inputs.v}}"]),
    ("(line 2, column 3: the double quote is never closed)", &["echo\nx \"{{inputs.v}}"]),
    ("the backtick is never closed", &["echo {{inputs.v}} `date"]),
    ("the parenthesis is never closed", &["echo {{inputs.v}} $(date"]),
    ("`${` is never closed", &["echo {{inputs.v}} ${x"]),
    ("`E` ends the here-document", &["cat <<E\n{{inputs.v}}\n E", "cat <<E {{inputs.v}}"]),
    ("is no plain word", &["cat <<{{inputs.v}}\nE", "cat <<$E\n{{inputs.v}}\n$E"]),
    (
        "differently by different shells",
        &[
            "echo $[1] {{inputs.v}}",
            "echo $'a\\'b' {{inputs.v}}",
            "((x)); echo {{inputs.v}}",
            "echo $(('1')) {{inputs.v}}",
            "echo \"${x#'a'}\" {{inputs.v}}",
        ],
    ),
    ("which bash reads wrongly", &["x=$(cat <<E\nq\nE\nprintf A; printf {{inputs.v}})"]),
    ("is closed by one parenthesis only", &["echo $((date) ) {{inputs.v}}"]),
    (
        "is not expected here",
        &["fi; echo {{inputs.v}}", "echo {{inputs.v}} )", "echo x (y) {{inputs.v}}", "echo {{inputs.v}} ;; x"],
    ),
    (
        "is missing here",
        &[
            "if true; then echo {{inputs.v}}",
            "| echo {{inputs.v}}",
            "case {{inputs.v}} in x",
            "while true; do echo {{inputs.v}}",
        ],
    ),
];

#[test]
fn where_no_value_is_safe_the_command_is_refused_with_what_to_write_instead() {
    for (expected, commands) in REFUSED {
        for command in *commands {
            let said = resolved(command, &[("v", "x")]).expect_err(command);
            assert!(said.contains("where no value is safe"), "{command}: {said}");
            assert!(said.contains(expected), "{command}: {said}");
            let flow = json!({
                "format": 1, "name": "n", "edges": [],
                "inputs": { "type": "object", "properties": { "v": { "type": "string" } } },
                "nodes": [{ "id": "a", "tool": "execute_command", "args": { "command": command } }],
            });
            let findings = checked(&flow.to_string()).findings;
            let finding = findings.iter().find(|it| it.code.as_str() == "shell_context").expect(command);
            assert!(finding.message.contains(expected), "{command}: {}", finding.message);
            assert!(
                finding.hint.as_deref().is_some_and(|hint| !hint.is_empty() && !hint.contains("{value}")),
                "{command}"
            );
        }
    }
}

/// A backslash, a here-document or an interpreter elsewhere in a command is the author's own affair.
#[test]
fn what_does_not_touch_the_value_is_allowed() {
    for command in [
        "sh -c 'echo $(date) \\n'",
        "sh -c 'printf %s \"$1\"' sh {{inputs.v}}",
        "bash -euo pipefail -c 'printf %s \"$1\"' bash {{inputs.v}}",
        "sh script.sh {{inputs.v}}",
        "sh ./scripts/{{inputs.v}}.sh",
        "python3 -c 'import sys; print(sys.argv[1])' {{inputs.v}}",
        "python3 -m http.server {{inputs.v}}",
        "perl -e 'print @ARGV' -- {{inputs.v}}",
        "awk -v name={{inputs.v}} '{print name}' {{inputs.v}}",
        "awk -F{{inputs.v}} '{print $1}' {{inputs.v}}",
        "VALUE={{inputs.v}} awk 'BEGIN {print ENVIRON[\"VALUE\"]}'",
        "sed -n 1p -- {{inputs.v}}",
        "jq --arg v {{inputs.v}} '.a == $v' file",
        "env A={{inputs.v}} true {{inputs.v}}",
        "nice -n 5 timeout 3 grep -- {{inputs.v}} file",
        "find {{inputs.v}} -name {{inputs.v}} -mtime +3 -delete",
        "find . -type f -exec grep -l -- {{inputs.v}} {} +",
        "ls | xargs -I{} echo {} {{inputs.v}}",
        "export X={{inputs.v}}; echo {{inputs.v}}",
        "echo 'a\\b' {{inputs.v}} a\\ b \\\n c",
        "echo `date` {{inputs.v}} $(date) ${x:-y} $((1 + 2)) \"${x%.*}\" $'a\\tb'",
        "cat <<'E'\n$(it's)\nE\necho {{inputs.v}}",
        "sh <<'E'\necho\nE\necho {{inputs.v}}",
        "echo {{inputs.v}} | grep -q -e sh && sh -c 'echo found'",
        "echo sh {{inputs.v}} and eval {{inputs.v}}",
        "test -n {{inputs.v}} && [ {{inputs.v}} = {{inputs.v}} ]",
        "read -r x < {{inputs.v}}; echo \"$x\"",
        "{{inputs.v}}",
        "./tools/{{inputs.v}} --help",
        "set -- {{inputs.v}}; printf '%s\\n' \"$@\"",
        "n=$(wc -l < {{inputs.v}}); if [ \"$n\" -gt 3 ]; then echo {{inputs.v}}; else echo no; fi",
        "select x in {{inputs.v}}; do echo \"$x\"; done",
        "while read -r l; do echo \"$l\"; done < {{inputs.v}} > out-{{inputs.v}} 2>&1 &",
    ] {
        if let Err(said) = resolved(command, &[("v", "x")]) {
            panic!("{command}: {said}");
        }
    }
}

#[test]
fn nesting_without_end_is_refused() {
    for opening in ["(", "$(", "`", "\"$(", "${x:-", "$((", "f() ", "{ ", "if ", "$(cat <<E\n"] {
        let said = resolved(&(opening.repeat(501) + "{{inputs.v}}"), &[("v", "x")]).unwrap_err();
        assert!(said.contains("that cannot be read"), "{opening}: {said}");
    }
}
